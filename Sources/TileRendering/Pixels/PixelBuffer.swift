package import TileGeometry
package import ZigguratImaging

/// 8-bit pixels in memory, filled once by their creator and read-only from then on.
// Sendable: no writes after the buffer is shared.
package final class PixelBuffer: @unchecked Sendable {
  package let size: PixelSize
  /// The layout: rows without gaps; planes one behind the other, whose sides are rounded up to even numbers.
  package let layout: PixelLayout
  let memory: UnsafeMutableBufferPointer<UInt8>

  package var width: Int { size.width }
  package var height: Int { size.height }
  package var byteCount: Int { memory.count }
  /// The bytes of the pixels in the order of the layout.
  package var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(memory) }

  init(_ size: PixelSize, _ layout: PixelLayout) {
    self.size = size
    self.layout = layout
    switch layout {
    case .interleaved(let bands): memory = .allocate(capacity: size.width * size.height * bands.count)
    case .planar420:
      let (columns, rows) = ((size.width + 1) / 2, (size.height + 1) / 2)
      memory = .allocate(capacity: columns * rows * 6)
    }
  }

  deinit { memory.deallocate() }

  struct Plane {
    let base: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next.
    let stride: Int
    let rows: Int
    /// Bytes of one pixel.
    let step: Int
  }

  func plane(_ number: Int) -> Plane {
    let base = memory.baseAddress!
    switch layout {
    case .interleaved(let bands):
      return Plane(base: base, stride: size.width * bands.count, rows: size.height, step: bands.count)
    case .planar420:
      let (columns, rows) = ((size.width + 1) / 2, (size.height + 1) / 2)
      if number == 0 { return Plane(base: base, stride: columns * 2, rows: rows * 2, step: 1) }
      return Plane(
        base: base + columns * rows * (number == 1 ? 4 : 5), stride: columns, rows: rows, step: 1)
    }
  }

  /// Repeats the last column and row of Y if the size is odd: encoders read an even count.
  func repeatOddEdges() {
    guard layout == .planar420 else { return }
    let luma = plane(0)
    if size.width % 2 == 1 {
      for row in 0..<size.height {
        let end = luma.base + row * luma.stride + size.width
        end.pointee = (end - 1).pointee
      }
    }
    if size.height % 2 == 1 {
      let end = luma.base + size.height * luma.stride
      end.update(from: end - luma.stride, count: luma.stride)
    }
  }
}
