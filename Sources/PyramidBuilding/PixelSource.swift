import Imaging

/// Rows of 8-bit pixels from top to bottom, bands interleaved, as the tiles are to have them.
protocol PixelSource: AnyObject {
  var width: Int { get }
  var height: Int { get }
  var bands: Int { get }
  var hasAlpha: Bool { get }

  /// Writes the next `count` rows to `base`, `stride` bytes apart. Called by one thread only.
  func read(rows count: Int, from y: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int)
    throws(BuildError)
}

/// Any image that libvips loads, brought upright and to 8-bit sRGB.
final class VipsPixelSource: PixelSource {
  let width: Int
  let height: Int
  let bands: Int
  let hasAlpha: Bool
  /// What was done to the pixels on their way, for the archive's metadata.
  let steps: [String]
  private let reader: PixelReader
  private let path: String

  init(path: String, options: BuildOptions) throws(BuildError) {
    do {
      let (image, steps) = try Self.prepared(path, options)
      (width, height, bands, hasAlpha) = (image.width, image.height, image.bands, image.hasAlpha)
      self.steps = steps
      self.path = path
      reader = PixelReader(image)
    } catch { throw BuildError(path, error) }
  }

  func read(
    rows count: Int, from y: Int, to base: UnsafeMutablePointer<UInt8>, stride: Int
  ) throws(BuildError) {
    do { try reader.read(rows: count, from: y, to: base, stride: stride) } catch {
      throw BuildError(path, error)
    }
  }

  private static func prepared(
    _ path: String, _ options: BuildOptions
  ) throws(ImagingError) -> (Image, [String]) {
    var steps: [String] = []
    var image = try Image(path: path, access: .sequential)
    if image.orientation != 1 {
      steps.append("turned upright from EXIF orientation \(image.orientation)")
      // Rows of a turned image are columns of the file, or come bottom first; only a left-to-right
      // mirror can be read as it streams.
      if image.orientation != 2 { image = try Image(path: path, access: .random) }
      image = try image.autorotated()
    }
    image = try inSRGB(image, &steps)
    if image.hasAlpha, !options.keepsAlpha {
      steps.append("laid over \(options.background.map(String.init).joined(separator: ","))")
      let background = options.background.map(Double.init)
      image = try image.flattened(over: image.bands < 3 ? [background.reduce(0, +) / 3] : background)
    }
    return (image, steps)
  }

  /// 8-bit sRGB or gray, alpha kept.
  private static func inSRGB(_ source: Image, _ steps: inout [String]) throws(ImagingError) -> Image {
    var image = source
    if image.hasField("icc-profile-data") {
      do throws(ImagingError) {
        image = try image.convertedFromEmbeddedProfile()
        steps.append("converted to sRGB by its embedded profile, perceptual")
      } catch {
        // A profile that does not fit its image is common; what the pixels say of themselves then counts.
        steps.append("embedded profile ignored: \(error.message)")
      }
    }
    let isGray = image.bands < 3 && ["b-w", "grey16"].contains(image.interpretation)
    let space = isGray ? "b-w" : "srgb"
    if image.interpretation != space {
      steps.append("converted from \(image.interpretation) to \(space)")
      image = try image.converted(to: space)
    }
    if !image.isBytes { image = try image.castToBytes() }
    let most = isGray ? 2 : 4
    return image.bands > most ? try image.bands(from: 0, count: most) : image
  }
}

extension BuildOptions {
  var keepsAlpha: Bool { format != .jpeg }
}
