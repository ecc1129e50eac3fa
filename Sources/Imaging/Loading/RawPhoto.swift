import Glibc
import ZigguratCRawPhoto
import ZigguratCVips

/// A camera's RAW file: LibRaw reads its header and develops it (demosaicing, white balance).
package struct RawPhoto: Sendable {
  /// The camera's maker and model; nil if the file does not name them.
  package let camera: String?
  /// Pixels of the developed picture, upright.
  package let width, height: Int
  /// Bytes of a pixel: 1 for a sensor without colour filters, 3 for others.
  fileprivate let bands: Int
  /// Whether LibRaw has a decoder for the samples and knows the sensor's colours.
  package let isKnown: Bool
  /// Whether the sensor's colours are described: otherwise they are taken for sRGB's.
  package let hasMatrix: Bool
  /// Whether the file has the white balance that the camera chose: otherwise its mean is taken for gray.
  package let hasWhiteBalance: Bool
  /// The number of exposures in the file; the first is developed.
  package let frames: Int
  /// EXIF orientation of the preview, 1…8.
  package let orientation: Int
  /// Bytes that developing takes.
  package let memory: Int
  private let path: String

  /// LibRaw's version, `0.20.2`.
  package static var version: String {
    // Debian's packages say `0.20.2-Release`.
    String(cString: raw_photo_version()).split(separator: "-").first.map(String.init) ?? "unknown"
  }

  /// `nil` if LibRaw does not read the file.
  package init?(path: String) {
    var photo = raw_photo()
    guard raw_photo_read(path, &photo) == 0 else { return nil }
    let names = [String(characters: photo.maker), String(characters: photo.model)].filter { !$0.isEmpty }
    camera = names.isEmpty ? nil : names.joined(separator: " ")
    width = Int(photo.width)
    height = Int(photo.height)
    bands = Int(photo.bands)
    isKnown = photo.is_known != 0
    hasMatrix = photo.has_matrix != 0
    hasWhiteBalance = photo.has_white_balance != 0
    frames = Int(photo.frames)
    orientation = Int(photo.orientation)
    memory = Int(photo.memory)
    self.path = path
  }

  /// Returns the pixels of the developed picture.
  fileprivate func developed() throws(ImagingError) -> DecodedOnce.Pixels {
    var base: UnsafeMutablePointer<UInt8>?
    var (width, height, bands): (Int32, Int32, Int32) = (0, 0, 0)
    let code = raw_photo_develop(path, &base, &width, &height, &bands)
    guard code == 0, let base else {
      let reason =
        code == RAW_LACKS_MEMORY ? "needs more memory than there is" : "is damaged or cut short"
      throw ImagingError(opening: path, "is a RAW photograph that \(reason)")
    }
    let pixels = DecodedOnce.Pixels(base)
    // Tiles were planned for the size in the header.
    guard (Int(width), Int(height), Int(bands)) == (self.width, self.height, self.bands) else {
      throw ImagingError(opening: path, "is a RAW photograph whose sizes contradict each other")
    }
    return pixels
  }

  /// Returns the camera's embedded JPEG preview; nil if there is none.
  package func preview() -> [UInt8]? {
    var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
    guard raw_photo_preview(path, &bytes, &count) == 0, let bytes else { return nil }
    defer { free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}

extension Image {
  /// The developed picture of a RAW file: the camera's white balance, upright, 8-bit sRGB or gray. Nothing is decoded
  /// before the first pixel is asked for.
  package convenience init(developing photo: RawPhoto, path: String) throws(ImagingError) {
    let header = GeneratedHeader(
      width: photo.width, height: photo.height, bands: photo.bands, sampleType: .byte,
      interpretation: photo.bands == 1 ? "b-w" : "srgb")
    let pixels = DecodedOnce(width: photo.width, bands: photo.bands) { () throws(ImagingError) in
      try photo.developed()
    }
    try self.init(header, fields: nil, subject: path, from: pixels)
  }

  /// An embedded JPEG, in memory.
  package convenience init(previewJPEG bytes: [UInt8], subject: String) throws(ImagingError) {
    Vips.start()
    let image: Result<Image, ImagingError> = bytes.withUnsafeBytes { bytes in
      Result { () throws(ImagingError) in
        let image = try Image(encoded: bytes, loader: "jpegload_buffer", subject: subject)
        // The bytes go with the caller.
        guard let copy = vips_image_copy_memory(image.pointer) else { throw .take("jpegload", subject) }
        return Image(owning: copy, subject: subject)
      }
    }
    self.init(owning: try image.get().retained(), subject: subject)
  }
}
