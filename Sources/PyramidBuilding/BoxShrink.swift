/// Halves pixels by the mean of 2×2, rounded to nearest: what `vips dzsave` does, bit for bit.
enum BoxShrink {
  /// - Parameters:
  ///   - source: rows `sourceStride` bytes apart, at least twice the target's width and height.
  ///   - width: of the target, pixels.
  ///   - height: of the target, pixels.
  static func halve(
    _ source: UnsafePointer<UInt8>, _ sourceStride: Int, into target: UnsafeMutablePointer<UInt8>,
    _ targetStride: Int, width: Int, height: Int, bands: Int, hasAlpha: Bool
  ) {
    for y in 0..<height {
      let upper = source + 2 * y * sourceStride
      let row = target + y * targetStride
      if hasAlpha {
        weightedRow(upper, upper + sourceStride, row, width, bands)
      } else if bands == 3 {
        row3(upper, upper + sourceStride, row, width)
      } else {
        plainRow(upper, upper + sourceStride, row, width, bands)
      }
    }
  }

  /// Shrinks every plane of `tile` to where its parent's pixels begin.
  static func halve(_ tile: TilePixels, into parent: TilePixels, hasAlpha: Bool) {
    for plane in 0..<tile.layout.planeCount {
      let step = tile.layout.subsampling(ofPlane: plane)
      let (columns, rows) = ((tile.width + step - 1) / step, (tile.height + step - 1) / step)
      halve(
        tile[plane].base, tile[plane].stride, into: parent[plane].base, parent[plane].stride,
        width: (columns + 1) / 2, height: (rows + 1) / 2, bands: tile.layout.bandsPerPlane,
        hasAlpha: hasAlpha)
    }
  }

  private static func row3(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int
  ) {
    var at = 0
    var to = 0
    for _ in 0..<width {
      let red = UInt16(a[at]) &+ UInt16(a[at &+ 3]) &+ UInt16(b[at]) &+ UInt16(b[at &+ 3])
      let green = UInt16(a[at &+ 1]) &+ UInt16(a[at &+ 4]) &+ UInt16(b[at &+ 1]) &+ UInt16(b[at &+ 4])
      let blue = UInt16(a[at &+ 2]) &+ UInt16(a[at &+ 5]) &+ UInt16(b[at &+ 2]) &+ UInt16(b[at &+ 5])
      out[to] = UInt8(truncatingIfNeeded: (red &+ 2) >> 2)
      out[to &+ 1] = UInt8(truncatingIfNeeded: (green &+ 2) >> 2)
      out[to &+ 2] = UInt8(truncatingIfNeeded: (blue &+ 2) >> 2)
      at &+= 6
      to &+= 3
    }
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

  /// Colours count as much as they are opaque, or the colour of invisible pixels would bleed in.
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
