/// Downsamples pixels to half size by the nearest neighbour: one of each 2×2, so that no new colour appears.
enum NearestDownsampler {
  /// Shrinks a tile of interleaved bands to where its parent's pixels begin; odd edges are repeated.
  ///
  /// - Parameter takesMode: takes the most frequent pixel, of several the first; otherwise the upper left one.
  static func halve(_ tile: TilePixels, into parent: TilePixels, takesMode: Bool) {
    let (from, to, bands) = (tile[0], parent[0], tile.layout.bandsPerPlane)
    let (width, height) = ((tile.width + 1) / 2, (tile.height + 1) / 2)
    for y in 0..<height {
      let upper = UnsafePointer(from.base + 2 * y * from.stride)
      let lower = upper + from.stride
      let row = to.base + y * to.stride
      for x in 0..<width {
        let at = 2 &* x &* bands
        var chosen = upper + at
        if takesMode {
          let next = at &+ bands
          chosen = mode(upper + at, upper + next, lower + at, lower + next, bands)
        }
        for band in 0..<bands { row[x &* bands &+ band] = chosen[band] }
      }
    }
  }

  @inline(__always)
  private static func mode(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ c: UnsafePointer<UInt8>,
    _ d: UnsafePointer<UInt8>,
    _ bands: Int
  ) -> UnsafePointer<UInt8> {
    func same(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>) -> Bool {
      for band in 0..<bands where one[band] != other[band] { return false }
      return true
    }
    if same(a, b) || same(a, c) || same(a, d) { return a }
    if same(b, c) || same(b, d) { return b }
    return same(c, d) ? c : a
  }
}
