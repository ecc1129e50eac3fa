import Glibc
import TileStorage
import ZigguratFiles
import ZigguratImaging

/// The picture that is built of a camera's RAW file.
package enum RawChoice: String, CaseIterable, Sendable {
  /// Developed from the samples of the sensor.
  case camera
  /// The camera's own JPEG of full size.
  case preview
}

/// The picture of a camera's RAW file.
struct RawPicture {
  private enum Way {
    case developed(RawPhoto)
    /// - orientation: EXIF, if the JPEG does not say.
    /// - pixels: bytes of the decoded JPEG.
    case preview(jpeg: [UInt8], orientation: Int, pixels: Int)
  }

  private let path: String
  private let way: Way
  /// Decisions, a clause each.
  let steps: [String]

  /// By which way its pixels come, for reports.
  var obstacle: String {
    switch way {
    case .developed: "being a RAW file"
    case .preview: "being the preview in a RAW file"
    }
  }

  /// The decoder of its pixels, for reports.
  var reader: String {
    switch way {
    case .developed: "LibRaw \(RawPhoto.version)"
    case .preview: "libvips"
    }
  }

  /// Bytes that its pixels take until the last of them is read.
  var memory: Int {
    switch way {
    case .developed(let photo): photo.memory
    case .preview(let jpeg, _, let pixels): jpeg.count + pixels
    }
  }

  /// - Throws: if the file can neither be developed nor has a preview of full size. A smaller one never stands for the
  ///   photograph.
  init(_ file: SourceFile, _ signs: RawFileInfo, _ choice: RawChoice) throws(BuildError) {
    path = file.path
    let photo = RawPhoto(path: file.path)
    // LibRaw takes such samples for integers, or for damage.
    let isKnown = photo?.isKnown == true && !signs.isFloatingPoint
    if let photo, isKnown, choice == .camera {
      way = .developed(photo)
      steps = Self.steps(photo)
      return
    }
    let largest = Self.largest(signs, photo, file)
    let camera = photo?.camera.map { "the camera \($0)" } ?? "such files"
    let unknown =
      signs.isFloatingPoint
      ? "floating-point DNG is not read" : "LibRaw \(RawPhoto.version) does not know \(camera)"
    let size = photo.map { ($0.width, $0.height) } ?? signs.sensor
    guard let largest, let size, Self.isFull(largest.image, size) else {
      let kind = signs.isCertain ? " (\(signs.kind))" : ""
      let why = isKnown ? "" : unknown + ", and "
      let preview = largest.map { "a preview of \($0.image.width)×\($0.image.height) pixels only" }
      throw BuildError(
        path,
        "is a RAW photograph\(kind) that cannot be built: \(why)it has \(preview ?? "no preview"); develop it first, "
          + "as with 'darktable-cli FILE FILE.tif', and build the result")
    }
    let image = largest.image
    way = .preview(
      jpeg: largest.jpeg, orientation: largest.orientation, pixels: image.width * image.height * image.bands)
    steps =
      ["the camera's preview of \(largest.image.width)×\(largest.image.height) pixels taken"]
      + (choice == .preview && isKnown ? [] : ["not developed: \(unknown)"])
  }

  private static func steps(_ photo: RawPhoto) -> [String] {
    var steps = ["developed by LibRaw \(RawPhoto.version)"]
    steps[0] +=
      photo.hasWhiteBalance
      ? " with the camera's white balance" : ": no white balance is given, the mean is gray"
    if !photo.hasMatrix {
      steps.append("no colour matrix is given: the sensor's colours are taken for sRGB's")
    }
    if photo.frames > 1 { steps.append(BuildRecord.first(of: "\(photo.frames) exposures")) }
    return steps
  }

  /// Returns the largest JPEG of the file that can be read.
  private static func largest(
    _ signs: RawFileInfo, _ photo: RawPhoto?, _ file: SourceFile
  ) -> (jpeg: [UInt8], image: Image, orientation: Int)? {
    var found = signs.previews.compactMap { preview in
      file.bytes(preview.place.lowerBound, preview.place.count).map { ($0, preview.orientation) }
    }
    if let photo, let jpeg = photo.preview() { found.append((jpeg, photo.orientation)) }
    var largest: (jpeg: [UInt8], image: Image, orientation: Int)?
    for (jpeg, orientation) in found {
      // Unreadable data are no preview, and neither is a sensor's lossless JPEG.
      guard let image = try? Image(previewJPEG: jpeg, subject: file.path) else { continue }
      if image.width * image.height > largest.map({ $0.image.width * $0.image.height }) ?? 0 {
        largest = (jpeg, image, orientation)
      }
    }
    return largest
  }

  /// Whether a preview has as many pixels as the sensor, apart from edges and a crop to 16:9.
  private static func isFull(_ image: Image, _ size: (width: Int, height: Int)) -> Bool {
    let (longer, shorter) = (max(size.width, size.height), min(size.width, size.height))
    return max(image.width, image.height) * 10 >= longer * 9
      && min(image.width, image.height) * 4 >= shorter * 3
  }

  func open() throws(ImagingError) -> Image {
    switch way {
    case .developed(let photo): return try Image(developing: photo, path: path)
    case .preview(let jpeg, let orientation, _):
      let image = try Image(previewJPEG: jpeg, subject: path)
      if !image.hasField("orientation") { image.setInt("orientation", orientation) }
      return image
    }
  }
}
