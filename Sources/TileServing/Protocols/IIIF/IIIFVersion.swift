import TileGeometry
import TileProtocols
import TileRendering

/// A version of the IIIF Image API that is spoken here.
enum IIIFVersion: String, CaseIterable {
  case two = "2"
  case three = "3"

  var context: String { "http://iiif.io/api/image/\(rawValue)/context.json" }
  /// Of compliance, as the Link header names it: http, not https.
  var profile: String { "http://iiif.io/api/image/\(rawValue)/level2.json" }
}

/// Why an image request cannot be answered: the status and one line.
struct IIIFRefusal: Error, Hashable {
  let status: Int
  let reason: String

  init(_ reason: String, status: Int = 400) { (self.status, self.reason) = (status, reason) }
}

/// What pictures may measure, stated in info.json.
struct PictureLimits: Hashable, Sendable {
  /// Pixels in all.
  var area = 50_000_000
  /// Pixels of either side; JPEG ends at 65535, and a turned picture is half as large again.
  static let side = 32_768

  func allow(_ size: PixelSize) -> Bool {
    size.width <= Self.side && size.height <= Self.side && size.width * size.height <= area
  }

  /// What WebP and AVIF can hold along a side.
  static func side(of format: PictureFormat) -> Int {
    format == .webp || format == .avif ? 16_383 : 65_500
  }
}
