import TileRendering

/// What rendering may take.
public struct RenderOptions: Hashable, Sendable {
  /// Pixels of one picture.
  public var pixels = 50_000_000
  /// Threads that render, beside those that answer.
  public var threads = 2
  /// Pictures that may wait; what comes then is answered 503.
  public var queue = 64
  /// Bytes of finished pictures and decoded tiles together.
  public var cacheBytes = 128 << 20
  /// Of lossy pictures, 1…100.
  public var quality = 80

  public init() {}

  var limits: PictureLimits { PictureLimits(area: pixels) }
}
