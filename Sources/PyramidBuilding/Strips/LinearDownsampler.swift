import Glibc

/// Downsamples sRGB pixels to half size in linear light (gamma-correct), so that fine bright detail on a dark
/// background keeps its brightness.
enum LinearDownsampler {
  /// Light of every 8-bit sRGB number, 0…65535 (IEC 61966-2-1).
  private static let light: [UInt16] = (0...255).map { number in
    let value = Double(number) / 255
    return UInt16((65535 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))).rounded())
  }

  /// The sRGB number nearest to each light.
  private static let number: [UInt8] = (0...65535).map { light in
    let value = Double(light) / 65535
    return UInt8((255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055)).rounded())
  }

  /// Shrinks a tile of interleaved bands to where its parent's pixels begin; odd edges are repeated.
  static func halve(_ tile: TilePixels, into parent: TilePixels) {
    let (from, to, bands) = (tile[0], parent[0], tile.layout.bandsPerPlane)
    let (width, height) = ((tile.width + 1) / 2, (tile.height + 1) / 2)
    light.withUnsafeBufferPointer { light in
      number.withUnsafeBufferPointer { number in
        for y in 0..<height {
          let upper = UnsafePointer(from.base + 2 * y * from.stride)
          row(
            upper, upper + from.stride, to.base + y * to.stride, width, bands, tile.layout.hasAlpha,
            light.baseAddress!, number.baseAddress!)
        }
      }
    }
  }

  private static func row(
    _ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>, _ width: Int,
    _ bands: Int, _ hasAlpha: Bool, _ light: UnsafePointer<UInt16>, _ number: UnsafePointer<UInt8>
  ) {
    let colours = hasAlpha ? bands - 1 : bands
    for x in 0..<width {
      let (at, next, to) = (2 &* x &* bands, 2 &* x &* bands &+ bands, x &* bands)
      var (a0, a1, b0, b1) = (1, 1, 1, 1)
      if hasAlpha {
        a0 = Int(a[at &+ colours])
        a1 = Int(a[next &+ colours])
        b0 = Int(b[at &+ colours])
        b1 = Int(b[next &+ colours])
        out[to &+ colours] = UInt8((a0 &+ a1 &+ b0 &+ b1) >> 2)
      }
      let weight = a0 &+ a1 &+ b0 &+ b1
      for band in 0..<colours {
        // Clear pixels have no colour.
        guard weight > 3 else {
          out[to &+ band] = 0
          continue
        }
        let sum =
          Int(light[Int(a[at &+ band])]) &* a0 &+ Int(light[Int(a[next &+ band])]) &* a1
          &+ Int(light[Int(b[at &+ band])]) &* b0 &+ Int(light[Int(b[next &+ band])]) &* b1
        out[to &+ band] = number[(sum &+ weight / 2) / weight]
      }
    }
  }
}
