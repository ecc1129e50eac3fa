/// How 8-bit pixels lie in memory from decoder to encoder.
enum PixelLayout: Hashable {
  /// One plane, bands side by side: gray, gray + alpha, RGB, RGBA.
  case interleaved(bands: Int)
  /// Y, Cb, Cr planes of JPEG 4:2:0: the chroma planes have half the columns and rows.
  case planar420

  var planeCount: Int { self == .planar420 ? 3 : 1 }

  /// How many image pixels one sample of the plane covers along each axis.
  func subsampling(ofPlane plane: Int) -> Int { self == .planar420 && plane > 0 ? 2 : 1 }

  var bandsPerPlane: Int {
    if case .interleaved(let bands) = self { return bands }
    return 1
  }
}

/// One plane of pixels in memory.
struct Plane {
  var base: UnsafeMutablePointer<UInt8>
  /// Bytes from one row to the next.
  var stride: Int
}

/// The pixels of one tile: as many planes as the layout has. The columns and rows behind the last ones
/// may be written to, up to the next even count.
struct TilePixels {
  var planes: (Plane, Plane, Plane)
  let layout: PixelLayout
  let width: Int
  let height: Int

  init(_ layout: PixelLayout, width: Int, height: Int, planes: (Plane, Plane, Plane)) {
    (self.layout, self.width, self.height, self.planes) = (layout, width, height, planes)
  }

  subscript(plane: Int) -> Plane {
    switch plane {
    case 0: planes.0
    case 1: planes.1
    default: planes.2
    }
  }

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
