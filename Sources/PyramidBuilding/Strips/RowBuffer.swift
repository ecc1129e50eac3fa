import ZigguratImaging

/// A few rows of pixels on their way from a decoder that gives whole rows to the tiles.
final class RowBuffer {
  /// How many it holds.
  let count: Int
  let bases: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>)
  /// Bytes from one row to the next.
  let strides: (Int, Int, Int)
  private let layout: PixelLayout
  private let width: Int
  private let memory: UnsafeMutablePointer<UInt8>

  /// JPEG decoders fill whole blocks, of up to 32 columns.
  private static let slack = 64

  /// - Parameters:
  ///   - width: image pixels.
  ///   - rows: even where chroma has half resolution.
  init(_ layout: PixelLayout, width: Int, rows: Int) {
    self.layout = layout
    self.width = width
    count = rows
    func stride(_ plane: Int) -> Int {
      let step = layout.subsampling(ofPlane: plane)
      return (width + step - 1) / step * layout.bandsPerPlane + Self.slack
    }
    strides = (stride(0), stride(1), stride(2))
    let sizes = [strides.0 * rows, strides.1 * rows / 2, strides.2 * rows / 2]
    memory = .allocate(capacity: layout.planeCount > 1 ? sizes.reduce(0, +) : sizes[0])
    bases =
      layout.planeCount > 1
      ? (memory, memory + sizes[0], memory + sizes[0] + sizes[1]) : (memory, memory, memory)
  }

  deinit { memory.deallocate() }

  /// Copies the first `rows` rows into the strip's tiles, from row `y` of the strip on.
  func move(_ rows: Int, to strip: Strip, y: Int) {
    for plane in 0..<layout.planeCount {
      let step = layout.subsampling(ofPlane: plane)
      let base = plane == 0 ? bases.0 : plane == 1 ? bases.1 : bases.2
      let stride = plane == 0 ? strides.0 : strides.1
      for row in 0..<(rows + step - 1) / step {
        strip.put(
          base + row * stride, count: (width + step - 1) / step, plane: plane, x: 0, y: y / step + row)
      }
    }
  }
}
