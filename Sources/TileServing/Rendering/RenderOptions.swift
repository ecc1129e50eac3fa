import ZigguratTileProtocols
import ZigguratTileRendering

/// The limits of rendering.
package struct RenderOptions: Codable, Hashable, Sendable {
  /// Maximum number of pixels of a picture; lower for formats that take long to encode (`PictureFormat.limit`).
  package var pixels = 50_000_000
  /// Number of render threads for quick pictures, and the same number for long ones. Event loops have their own
  /// threads.
  package var threads = 2
  /// Maximum number of waiting pictures. Further requests get 503.
  package var queue = 64
  /// Maximum time, in seconds, that a client waits for a picture and that a render takes.
  package var timeout = 30.0
  /// Bytes of finished pictures and decoded tiles together.
  package var cacheBytes = 128 << 20
  /// The quality of lossy pictures, 1…100.
  package var quality = 80

  /// Maximum bytes of finished pictures that are not sent yet, because their clients read slowly. Two pictures of
  /// the maximum size always fit, even if they are incompressible, so that one client leaves room for another.
  var unsentBytes: Int { max(4 * cacheBytes, 2 * 3 * pixels) }

  package init() {}

  var limits: PictureLimits { PictureLimits(area: pixels) }
}
