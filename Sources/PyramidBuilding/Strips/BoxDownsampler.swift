/// Downsamples pixels to half size with a box filter of 2×2, by default with the same bits as `vips dzsave`.
enum BoxDownsampler {
  /// - Parameters:
  ///   - source: rows `sourceStride` bytes apart, at least twice the target's width and height.
  ///   - width: the width of the target in pixels.
  ///   - height: the height of the target in pixels.
  ///   - isEven: whether a single band is rounded down in every second column and up in the others. A level then gets
  ///     no lighter than the one above it. Rounding to nearest adds an eighth each time, as in `vips dzsave`; chroma
  ///     would change its colour.
  static func halve(
    _ source: UnsafePointer<UInt8>, _ sourceStride: Int, into target: UnsafeMutablePointer<UInt8>,
    _ targetStride: Int, width: Int, height: Int, bands: Int, hasAlpha: Bool, isEven: Bool = false
  ) {
    for y in 0..<height {
      let upper = source + 2 * y * sourceStride
      let row = target + y * targetStride
      if hasAlpha {
        weightedRow(upper, upper + sourceStride, row, width, bands)
      } else if bands == 3 {
        row3(upper, upper + sourceStride, row, width)
      } else if bands == 1 {
        row1(upper, upper + sourceStride, row, width, isEven: isEven)
      } else {
        plainRow(upper, upper + sourceStride, row, width, bands)
      }
    }
  }

  /// Shrinks every plane of `tile` to its position in the parent's pixels.
  static func halve(_ tile: TilePixels, into parent: TilePixels) {
    for plane in 0..<tile.layout.planeCount {
      let step = tile.layout.subsampling(ofPlane: plane)
      let (columns, rows) = ((tile.width + step - 1) / step, (tile.height + step - 1) / step)
      halve(
        tile[plane].base, tile[plane].stride, into: parent[plane].base, parent[plane].stride,
        width: (columns + 1) / 2, height: (rows + 1) / 2, bands: tile.layout.bandsPerPlane,
        hasAlpha: tile.layout.hasAlpha, isEven: tile.layout == .planar420)
    }
  }

  /// Halves RGB: first the mean at every byte, which runs in vectors, then every second pixel of the result.
  private static func row3(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int
  ) {
    let count = 6 * width
    withUnsafeTemporaryAllocation(byteCount: count + 16, alignment: 16) { means in
      let mean = means.baseAddress.unsafelyUnwrapped
      var at = 0
      while at &+ 19 <= count {
        // Even and odd bytes are the halves of 16-bit lanes: no widening, no narrowing.
        let (a0, a3, b0, b3) = (lanes(a + at), lanes(a + (at &+ 3)), lanes(b + at), lanes(b + (at &+ 3)))
        let even = (a0 & 0xff) &+ (a3 & 0xff) &+ (b0 & 0xff) &+ (b3 & 0xff) &+ 2
        let odd = (a0 &>> 8) &+ (a3 &>> 8) &+ (b0 &>> 8) &+ (b3 &>> 8) &+ 2
        mean.storeBytes(of: (even &>> 2) | ((odd &>> 2) &<< 8), toByteOffset: at, as: SIMD8<UInt16>.self)
        at &+= 16
      }
      while at &+ 3 < count {
        let sum = UInt16(a[at]) &+ UInt16(a[at &+ 3]) &+ UInt16(b[at]) &+ UInt16(b[at &+ 3])
        mean.storeBytes(of: UInt8(truncatingIfNeeded: (sum &+ 2) >> 2), toByteOffset: at, as: UInt8.self)
        at &+= 1
      }
      // Four bytes are moved for three; the last pixel's fourth byte may belong to another thread.
      let target = UnsafeMutableRawPointer(out)
      for x in 0..<width - 1 {
        target.storeBytes(
          of: mean.loadUnaligned(fromByteOffset: 6 &* x, as: UInt32.self), toByteOffset: 3 &* x,
          as: UInt32.self)
      }
      for band in 0..<3 {
        out[3 * (width - 1) + band] = mean.load(fromByteOffset: 6 * (width - 1) + band, as: UInt8.self)
      }
    }
  }

  /// Halves one band: neighbours are the two halves of a 16-bit lane.
  private static func row1(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int,
    isEven: Bool
  ) {
    let first: UInt16 = isEven ? 1 : 2
    let bias = unsafeBitCast(SIMD8<UInt32>(repeating: 0x2_0000 | UInt32(first)), to: SIMD16<UInt16>.self)
    var x = 0
    while x &+ 16 <= width {
      let sum = pairs(a + 2 &* x) &+ pairs(b + 2 &* x) &+ bias
      UnsafeMutableRawPointer(out).storeBytes(
        of: SIMD16<UInt8>(truncatingIfNeeded: sum &>> 2), toByteOffset: x, as: SIMD16<UInt8>.self)
      x &+= 16
    }
    while x < width {
      let sum = UInt16(a[2 &* x]) &+ UInt16(a[2 &* x &+ 1]) &+ UInt16(b[2 &* x]) &+ UInt16(b[2 &* x &+ 1])
      out[x] = UInt8(truncatingIfNeeded: (sum &+ (x & 1 == 0 ? first : 2)) >> 2)
      x &+= 1
    }
  }

  @inline(__always)
  private static func lanes(_ bytes: UnsafePointer<UInt8>) -> SIMD8<UInt16> {
    UnsafeRawPointer(bytes).loadUnaligned(as: SIMD8<UInt16>.self)
  }

  /// Returns the sums of neighbouring bytes.
  @inline(__always)
  private static func pairs(_ bytes: UnsafePointer<UInt8>) -> SIMD16<UInt16> {
    let lanes = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt16>.self)
    return (lanes & 0xff) &+ (lanes &>> 8)
  }

  private static func plainRow(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int,
    _ bands: Int
  ) {
    for x in 0..<width {
      for band in 0..<bands {
        let at = 2 &* x &* bands &+ band
        let sum = UInt16(a[at]) &+ UInt16(a[at &+ bands]) &+ UInt16(b[at]) &+ UInt16(b[at &+ bands])
        out[x &* bands &+ band] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
      }
    }
  }

  /// Halves colours weighted by their alpha, so that the colour of transparent pixels does not bleed in.
  private static func weightedRow(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int,
    _ bands: Int
  ) {
    let alpha = bands - 1
    for x in 0..<width {
      let at = 2 &* x &* bands
      let next = at &+ bands
      let (a0, a1, b0, b1) = (
        Int(a[at &+ alpha]), Int(a[next &+ alpha]), Int(b[at &+ alpha]), Int(b[next &+ alpha])
      )
      let opacity = a0 + a1 + b0 + b1
      let to = x &* bands
      out[to &+ alpha] = UInt8(opacity >> 2)
      for band in 0..<alpha {
        guard opacity >> 2 > 0 else {
          out[to &+ band] = 0
          continue
        }
        let sum =
          Int(a[at &+ band]) * a0 + Int(a[next &+ band]) * a1 + Int(b[at &+ band]) * b0
          + Int(b[next &+ band]) * b1
        out[to &+ band] = UInt8(sum / opacity)
      }
    }
  }
}
