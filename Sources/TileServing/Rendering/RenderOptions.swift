import ZigguratTileProtocols
import ZigguratTileRendering

/// Limits and settings of rendering.
package struct RenderOptions: Codable, Hashable, Sendable {
  /// Pixels of one picture, fewer in formats that take long (`PictureFormat.limit`).
  package var pixels = 50_000_000
  /// Threads that render, beside those that answer: so many for quick pictures, and as many for long ones.
  package var threads = 2
  /// Pictures that may wait; what comes then is answered 503.
  package var queue = 64
  /// Seconds that a client waits for a picture, and that one is rendered, at most.
  package var timeout = 30.0
  /// Bytes of finished pictures and decoded tiles together.
  package var cacheBytes = 128 << 20
  /// The quality of lossy pictures, 1…100.
  package var quality = 80

  /// Bytes of finished pictures that are not sent yet: those of clients that are slow to read. At least two pictures
  /// of the most pixels, however badly they can be compressed, so that one client's leaves room for another's.
  var unsentBytes: Int { max(4 * cacheBytes, 2 * 3 * pixels) }

  package init() {}

  var limits: PictureLimits { PictureLimits(area: pixels) }
}
