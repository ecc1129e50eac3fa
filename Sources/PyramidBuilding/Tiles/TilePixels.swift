import ZigguratImaging

/// One plane of pixels in memory.
struct Plane {
  var base: UnsafeMutablePointer<UInt8>
  /// Bytes from one row to the next.
  var stride: Int
}

/// The planes of pixels; those that their layout has not are the first.
struct Planes {
  private var planes: (Plane, Plane, Plane)

  init(_ first: Plane, _ second: Plane, _ third: Plane) { planes = (first, second, third) }

  subscript(plane: Int) -> Plane { plane == 0 ? planes.0 : plane == 1 ? planes.1 : planes.2 }

  /// As functions of C take them.
  var bases: [UnsafeMutablePointer<UInt8>?] { [planes.0.base, planes.1.base, planes.2.base] }
  var readableBases: [UnsafePointer<UInt8>?] { bases.map { UnsafePointer($0) } }
  var strides: [Int] { [planes.0.stride, planes.1.stride, planes.2.stride] }

  /// The planes from column `x` and row `y` on, both even where chroma has half resolution.
  func from(column x: Int, row y: Int, _ layout: PixelLayout) -> Planes {
    func moved(_ index: Int) -> Plane {
      let step = layout.subsampling(ofPlane: index)
      var plane = self[index]
      plane.base += y / step * plane.stride + x / step * layout.bandsPerPlane
      return plane
    }
    return Planes(moved(0), moved(1), moved(2))
  }
}

/// The pixels of one tile: as many planes as the layout has. The columns and rows behind the last ones
/// may be written to, up to the next even count.
struct TilePixels {
  let planes: Planes
  let layout: PixelLayout
  let width: Int
  let height: Int

  init(_ layout: PixelLayout, width: Int, height: Int, planes: Planes) {
    self.layout = layout
    self.width = width
    self.height = height
    self.planes = planes
  }

  subscript(plane: Int) -> Plane { planes[plane] }

  /// Repeats an odd last column or row, which `vips dzsave` does before it shrinks and chroma of half
  /// resolution needs before it is encoded.
  func repeatOddEdges() {
    for plane in 0..<layout.planeCount {
      let step = layout.subsampling(ofPlane: plane)
      let (columns, rows) = ((width + step - 1) / step, (height + step - 1) / step)
      let (base, stride, bands) = (self[plane].base, self[plane].stride, layout.bandsPerPlane)
      if columns % 2 == 1 {
        for y in 0..<rows {
          let end = base + y * stride + columns * bands
          end.update(from: end - bands, count: bands)
        }
      }
      if rows % 2 == 1 {
        let end = base + rows * stride
        end.update(from: end - stride, count: (columns + columns % 2) * bands)
      }
    }
  }
}
