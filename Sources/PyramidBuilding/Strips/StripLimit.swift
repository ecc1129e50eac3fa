import TileStorage

/// The backpressure of encoding on decoding: the lead of the decoder is large enough to keep every thread busy and no
/// larger, because it needs most of the memory.
enum StripLimit {
  /// Bytes for each two threads that a strip of full resolution may be behind with when the next one is
  /// begun.
  private static let bytesAhead = 24 << 20
  /// The same for formats that take several times longer to encode than JPEG: fewer tiles keep the other threads busy
  /// while one decodes.
  private static let slowBytesAhead = 8 << 20

  /// Tiles of full resolution that may still wait or be in work when decoding of the next strip begins.
  static func tilesAhead(_ level: StripLevel, _ format: TileFormat, threads: Int, isParallel: Bool) -> Int {
    if threads == 1 { return 0 }
    // All threads decode, then all encode; only the last batches of each leave some without work.
    if isParallel { return min(level.columns, 8 * threads) }
    let bytes = format.isSlow ? slowBytesAhead : bytesAhead
    let tiles = bytes * (threads / 2) / level.block.byteCount
    return min(level.columns, max(tiles, level.columns / 8))
  }
}
