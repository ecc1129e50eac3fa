import TileStorage
import ZigguratCWebP
import ZigguratFiles
import ZigguratImaging

/// The part of a damaged WebP file that libwebp decodes row by row; libvips gives all of a file or nothing.
enum WebPPart {
  /// Returns `nil` if no row can be decoded, and for animations.
  ///
  /// - Parameter log: receives the lost rows.
  static func image(path: String, _ log: DamageLog) throws(BuildError) -> Image? {
    let bytes = try SourceFile(path: path).contents()
    var features = WebPBitstreamFeatures()
    guard WebPGetFeatures(bytes, bytes.count, &features) == VP8_STATUS_OK, features.has_animation == 0
    else { return nil }
    let bands: PixelBands = features.has_alpha == 0 ? .rgb : .rgba
    let mode = features.has_alpha == 0 ? MODE_RGB : MODE_RGBA
    guard let decoder = WebPINewRGB(mode, nil, 0, 0) else { return nil }
    defer { WebPIDelete(decoder) }
    let status = WebPIAppend(decoder, bytes, bytes.count)
    var (rows, width, height, stride): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard let pixels = WebPIDecGetRGB(decoder, &rows, &width, &height, &stride), rows > 0, width > 0 else {
      return nil
    }
    let rowSize = Int(width) * bands.count
    var all = [UInt8](repeating: 0, count: rowSize * Int(height))
    all.withUnsafeMutableBufferPointer { all in
      for y in 0..<Int(rows) {
        (all.baseAddress! + y * rowSize).update(from: pixels + y * Int(stride), count: rowSize)
      }
    }
    switch status {
    case VP8_STATUS_OK: break
    case VP8_STATUS_SUSPENDED:
      log.add(.truncated, "the WebP file is cut off: \(height - rows) of \(height) rows are missing")
    default: log.add(.error, "the WebP file is damaged: \(height - rows) of \(height) rows are missing")
    }
    let image = all.withUnsafeBufferPointer {
      Image(
        copying: $0.baseAddress!, width: Int(width), height: Int(height), bands: bands, stride: rowSize)
    }
    if let profile = profile(bytes) { image.setProfile(profile) }
    return image
  }

  /// The chunk ICCP, which comes before the pixels (WebP Container Specification, Extended File Format).
  private static func profile(_ bytes: [UInt8]) -> [UInt8]? {
    var at = 12
    while at + 8 <= bytes.count {
      let size = ByteOrder.little.number(bytes, at: at + 4, 4)
      guard at + 8 + size <= bytes.count else { return nil }
      if bytes[at..<at + 4].elementsEqual("ICCP".utf8) { return Array(bytes[at + 8..<at + 8 + size]) }
      at += 8 + size + size % 2
    }
    return nil
  }
}
