import TileGeometry
import TileStorage

/// An estimate of the memory that a build takes, made before it begins.
enum MemoryNeed {
  /// In the archive's table while it is written, and in its directory at the end.
  private static let bytesPerTile = 128

  /// Returns the bytes of tiles in flight, of the source, and of tiles on their way to the archive.
  static func bytes(
    of source: any StripSource, _ pyramid: Pyramid, _ options: BuildOptions, threads: Int
  ) -> Int {
    let levels = (0..<pyramid.levelCount).map { StripLevel(pyramid, shift: $0, layout: source.layout) }
    let top = levels[0]
    // Other threads may come to help.
    let threads = max(threads, 2)
    let ahead = StripLimit.tilesAhead(top, options.coding, threads: threads, isParallel: source.isParallel)
    var tiles = source.hasReadyTiles ? threads : top.rows == 1 ? top.columns : top.columns + ahead
    // Of each coarser level one row at most: tiles are done as soon as they are complete.
    for level in levels.dropFirst() { tiles += level.columns }
    let total = source.memory + Self.bytesPerTile * pyramid.tileCount + tiles * top.block.byteCount
    let largest =
      min(pyramid.tileSize, pyramid.imageSize.width) * min(pyramid.tileSize, pyramid.imageSize.height)
    let encoders =
      threads * (4 * pyramid.tileSize * pyramid.tileSize + options.format.encoderBytesPerPixel * largest)
    return total + min(2, top.rows) * source.coefficientsPerStrip * 2 + encoders + (8 << 20)
  }
}
