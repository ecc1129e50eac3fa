import TileGeometry

/// How much memory a build takes, reckoned before it begins.
enum MemoryNeed {
  /// In the archive's table while it is written, and in its directory at the end.
  private static let bytesPerTile = 128

  /// Bytes of strips in flight, of what the source holds, and of tiles on their way to the archive.
  static func bytes(of source: any StripSource, _ pyramid: Pyramid, threads: Int) -> Int {
    let samples = source.layout == .planar420 ? 3 : 2 * source.layout.bandsPerPlane  // in halves of a byte
    var total = source.memory + Self.bytesPerTile * pyramid.tileCount
    for shift in 0..<pyramid.levelCount {
      let level = StripLevel(pyramid, shift: shift, layout: source.layout)
      let strip = level.columns * level.tileSize * level.tileSize * samples / 2
      // Two strips at most of each level: one that fills or waits, one in work; of the finest also
      // coefficients in their place.
      let isTop = shift == 0 && source.coefficientsPerStrip > 0
      total += min(2, level.rows) * (isTop ? source.coefficientsPerStrip * 2 : strip)
    }
    return total + threads * 4 * pyramid.tileSize * pyramid.tileSize + (8 << 20)
  }
}
