import ZigguratImaging

/// Undoes the filters of PNG rows (PNG 9.2).
enum PNGUnfilter {
  /// - Parameters:
  ///   - filter: 1…4; 0 means that there is none.
  ///   - row: the filtered bytes; up to 3 bytes behind them are read.
  ///   - above: the finished row above, zeros for the first.
  ///   - out: `count` bytes, and up to 3 behind them are written to.
  /// - Returns: false for a filter that does not exist.
  static func undo(
    _ filter: UInt8, _ row: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>,
    to out: UnsafeMutablePointer<UInt8>, count: Int, bands: PixelBands
  ) -> Bool {
    switch (filter, bands) {
    case (1, .gray): sub(row, out, count, 1)
    case (1, .grayAlpha): sub(row, out, count, 2)
    case (1, .rgb): sub(row, out, count, 3)
    case (1, .rgba): sub(row, out, count, 4)
    case (2, _): for i in 0..<count { out[i] = row[i] &+ above[i] }
    case (3, .gray): average(row, above, out, count, 1)
    case (3, .grayAlpha): average(row, above, out, count, 2)
    case (3, .rgb): average(row, above, out, count, 3)
    case (3, .rgba): average(row, above, out, count, 4)
    case (4, .gray): paeth(row, above, out, count, 1)
    case (4, .grayAlpha): paeth(row, above, out, count, 2)
    case (4, .rgb): paeth(row, above, out, count, 3)
    case (4, .rgba): paeth(row, above, out, count, 4)
    default: return false
    }
    return true
  }

  // A pixel's bands are lanes of one vector; each pixel waits for the one to its left, so only bands are
  // worked on side by side. The lanes beyond the last band are overwritten by the next pixel.

  @inline(__always)
  private static func load(_ bytes: UnsafePointer<UInt8>) -> SIMD4<UInt8> {
    UnsafeRawPointer(bytes).loadUnaligned(as: SIMD4<UInt8>.self)
  }

  @inline(__always)
  private static func store(_ pixel: SIMD4<UInt8>, _ out: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(out).storeBytes(of: pixel, as: SIMD4<UInt8>.self)
  }

  @inline(__always)
  private static func wide(_ pixel: SIMD4<UInt8>) -> SIMD4<Int16> { SIMD4(truncatingIfNeeded: pixel) }

  @inline(__always)
  private static func sub(
    _ row: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ count: Int, _ bands: Int
  ) {
    var left = SIMD4<UInt8>()
    var at = 0
    while at < count {
      left = left &+ load(row + at)
      store(left, out + at)
      at &+= bands
    }
  }

  @inline(__always)
  private static func average(
    _ row: UnsafePointer<UInt8>, _ above: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>,
    _ count: Int, _ bands: Int
  ) {
    var left = SIMD4<UInt8>()
    var at = 0
    while at < count {
      let up = load(above + at)
      // The mean rounded down, without a ninth bit.
      left = ((left & up) &+ ((left ^ up) &>> 1)) &+ load(row + at)
      store(left, out + at)
      at &+= bands
    }
  }

  @inline(__always)
  private static func paeth(
    _ row: UnsafePointer<UInt8>, _ above: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>,
    _ count: Int, _ bands: Int
  ) {
    var left = SIMD4<Int16>()
    var corner = SIMD4<Int16>()
    var at = 0
    while at < count {
      let up = wide(load(above + at))
      let byLeft = magnitude(up &- corner)
      let byUp = magnitude(left &- corner)
      let byCorner = magnitude((up &- corner) &+ (left &- corner))
      // In a tie left comes first, then up.
      let upWins = mask(byCorner .>= byUp)
      let rest = (up & upWins) | (corner & ~upWins)
      let leftWins = mask(byUp .>= byLeft) & mask(byCorner .>= byLeft)
      let predicted = (left & leftWins) | (rest & ~leftWins)
      left = (predicted &+ wide(load(row + at))) & 0xff
      corner = up
      store(SIMD4(truncatingIfNeeded: left), out + at)
      at &+= bands
    }
  }

  @inline(__always)
  private static func magnitude(_ value: SIMD4<Int16>) -> SIMD4<Int16> {
    let sign = value &>> 15
    return (value ^ sign) &- sign
  }

  @inline(__always)
  private static func mask(_ lanes: SIMDMask<SIMD4<Int16>>) -> SIMD4<Int16> {
    unsafeBitCast(lanes, to: SIMD4<Int16>.self)
  }
}
