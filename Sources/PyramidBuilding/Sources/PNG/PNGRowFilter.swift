/// Replaces a row by its differences from the row above or the pixel to the left (PNG 9.2), whichever is smaller.
enum PNGRowFilter {
  private static let sub: UInt8 = 1
  private static let up: UInt8 = 2

  /// Writes the filter's number and the differences.
  ///
  /// Paeth and Average, tried on photographs, gave larger files with this deflate, which finds few of
  /// the matches that noise breaks up.
  ///
  /// - Parameters:
  ///   - count: bytes of the row.
  ///   - out: takes one byte more than the row.
  static func write(
    _ row: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, count: Int, bands: Int,
    to out: UnsafeMutablePointer<UInt8>
  ) {
    let left = row - bands
    let first = min(bands, count)
    if cost(row + first, above + first, count - first) <= cost(row + first, left + first, count - first) {
      out[0] = up
      subtract(row, above, count, out + 1)
    } else {
      out[0] = sub
      (out + 1).update(from: row, count: first)
      subtract(row + first, left + first, count - first, out + 1 + first)
    }
  }

  private static func subtract(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int, _ out: UnsafeMutablePointer<UInt8>
  ) {
    for i in 0..<count { out[i] = a[i] &- b[i] }
  }

  /// The sum of the differences' magnitudes, each as a signed byte, of one vector in four: for files
  /// as large as with all of them, in a quarter of the time.
  private static func cost(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var sum = 0
    var at = 0
    while at &+ 16 <= count {
      // 128 vectors of two magnitudes of at most 128 fit a lane.
      var lanes = SIMD8<UInt16>()
      let end = min(at &+ 8192, count &- 15)
      while at < end {
        let difference =
          UnsafeRawPointer(a + at).loadUnaligned(as: SIMD16<UInt8>.self)
          &- UnsafeRawPointer(b + at).loadUnaligned(as: SIMD16<UInt8>.self)
        let magnitude = pointwiseMin(difference, 0 &- difference)
        let pairs = unsafeBitCast(magnitude, to: SIMD8<UInt16>.self)
        lanes &+= (pairs & 0xff) &+ (pairs &>> 8)
        at &+= 64
      }
      sum &+= Int(SIMD8<UInt32>(truncatingIfNeeded: lanes).wrappedSum())
    }
    while at < count {
      let difference = a[at] &- b[at]
      sum &+= Int(min(difference, 0 &- difference))
      at &+= 1
    }
    return sum
  }
}
