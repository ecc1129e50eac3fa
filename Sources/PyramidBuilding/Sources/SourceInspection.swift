import Foundation
package import TileGeometry
package import TileStorage
import ZigguratImaging
import ZigguratMetadata
import ZigguratSandbox

/// The properties of a source that are useful before building it.
package struct SourceInspection: Sendable, Codable {
  private let width, height: Int
  package var size: PixelSize { PixelSize(width: width, height: height)! }
  /// Whether a picture can have these values; the sandboxed process is untrusted.
  var isPossible: Bool { PixelSize(width: width, height: height) != nil && pages >= 0 }
  package let bands: Int
  /// libvips' name of the loader, without `load`: `jpeg`, `tiff`.
  package let format: String
  /// libvips' name of the colour space: `srgb`, `cmyk`, `rgb16`.
  package let colour: String
  package let hasProfile: Bool
  /// The colour information of the file besides an ICC profile; nil if it means sRGB, or there is none.
  package let colourMarks: String?
  package let hasAlpha: Bool
  /// The EXIF orientation, 1…8.
  package let orientation: Int
  package let pages: Int
  /// The names of its associated images, as in slides: `label`, `macro`, `thumbnail`.
  package let associated: [String]
  /// The names of pictures in the file that a build leaves out: `label`, `macro`, `reduced copy`.
  package let leftOut: [String]
  /// Names of data that no tile shows: `gain map`.
  package let dropped: [String]
  /// Damage that is known without decoding the pixels; nil if there is none.
  package let damage: SourceDamage?
  /// The axes besides width and height, and the part that would be built; nil if the source is not a stack.
  package let dimensions: ImageDimensions?
  /// The names of its scenes, in the order of `--scene`; empty if there is only one.
  package let scenes: [String]
  /// The way in which its tiles would be made, and the reason.
  package let route: String
  /// The changes that a build would make to its pixels, in order.
  package let steps: [String]
  /// Microns per pixel, across and down; nil if they are unknown.
  package let micronsPerPixel: [Double]?
  /// The metadata of the file.
  package let metadata: ImageMetadata

  /// Disables uncommon formats from now on, in a process that builds untrusted files.
  package static func forbidUncommonFormats() { ImageLoaders.forbidUncommon() }

  /// Returns the kind of an uploaded file by its first bytes and its directories. They are read once, in this process.
  ///
  /// - Parameter name: the file name that the client sent.
  /// - Returns: the slide format, which is not built from uploads because its decoders are not for untrusted files.
  ///   Also `raw` or `tiff`, which may begin alike. Each is nil for any other file.
  package static func kind(
    ofUploadAt path: String, name: String
  ) throws(BuildError) -> (slide: SlideFormat?, format: ImageFormat?) {
    let file = try SourceFile(path: path, name: name)
    let tiff = TIFFDirectories(file)
    if RawFileInfo(file, tiff: tiff)?.isCertain == true { return (nil, .raw) }
    return (file.slide(contents: tiff), tiff == nil ? nil : .tiff)
  }

  /// Returns the XXH3-128 of a source's content, hexadecimal, as in a build record.
  package static func digest(path: String) throws(BuildError) -> String {
    try SourceFile(path: path).digest()
  }

  /// Inspects a source, in a sandboxed process if the program has them.
  ///
  /// - Parameters:
  ///   - options: build options, which affect the route; those of a sandboxed process are the whole program's.
  ///   - seconds: the timeout in a sandboxed process.
  ///   - pdfPassword: the password of an encrypted PDF; nil if there is none.
  package init(
    path: String, options: BuildOptions, seconds: Int = 120, pdfPassword: String? = nil
  ) throws(BuildError) {
    let file = try SourceFile(path: path)
    if let server = ProcessLauncher.running {
      let memory = Int(ProcessInfo.processInfo.physicalMemory / 4)
      self = try InspectWorker.inspect(
        file, server, memory: memory, seconds: seconds, pdfPassword: pdfPassword)
    } else {
      PDFPassword.use(pdfPassword)
      try self.init(reading: path, options: options)
    }
  }

  /// Inspects a source in this process.
  init(reading path: String, options: BuildOptions) throws(BuildError) {
    let file = try SourceFile(path: path)
    let found = try SourcePages(file: file, options: options)
    let route = try SourceRoute(
      file: file, page: found.count > 1 ? found.directories[0] : nil, options: options)
    let image: Image
    do { image = try route.picture.open(.sequential) } catch { throw .unopened(path, error) }
    guard let size = PixelSize(width: image.width, height: image.height) else {
      throw BuildError(path, "the image has no pixels")
    }
    width = size.width
    height = size.height
    bands = image.bands
    hasAlpha = image.hasAlpha
    orientation = image.orientation
    let loader = route.picture.raw == nil ? image.string("vips-loader") ?? "unknown" : "raw"
    format = loader.hasSuffix("load") ? String(loader.dropLast(4)) : loader
    colour = image.interpretation
    colourMarks = image.followedMarks ?? image.unfollowedMarks
    hasProfile = image.hasField("icc-profile-data") && image.followedMarks == nil
    let isTIFF = route.picture.raw == nil && Image.loader(ofPath: path) == "tiffload"
    pages = isTIFF || route.picture.dicom != nil ? found.count : image.int("n-pages") ?? 1
    let associated = route.associated.isEmpty ? found.associated : route.associated
    self.associated = associated.map(\.rawValue)
    leftOut = route.leftOut.isEmpty ? found.leftOut : route.leftOut
    dropped = route.unshown
    damage = route.picture.log.worst
    if let refused = route.picture.log.refused(by: options.failOn) { throw BuildError(path, refused.reason) }
    dimensions = route.picture.stack?.dimensions
    let contents = try SourceContents.of(file, options)
    scenes = contents.map { $0.scenes.count > 1 ? $0.scenes.map(\.name) : [] } ?? []
    self.route = route.reason
    steps = route.steps
    micronsPerPixel = route.micronsPerPixel.map { [$0.x, $0.y] }
    metadata = route.metadata(isPage: found.count > 1)
  }
}
