package import TileGeometry

extension PixelBuffer {
  /// The pixels at the top left of a larger area that is otherwise `color`, opaque.
  ///
  /// - Parameters:
  ///   - size: at least this size.
  ///   - color: red, green, blue.
  /// - Precondition: the layout is interleaved.
  package func padded(to size: PixelSize, with color: [Int]) -> PixelBuffer {
    precondition(size.width >= width && size.height >= height, "padding makes nothing smaller")
    let gray = color.reduce(0, +) / 3
    let pixel = ((layout.bands.isGray ? [gray] : color) + (layout.hasAlpha ? [255] : [])).map {
      UInt8(clamping: $0)
    }
    let bands = pixel.count
    let result = PixelBuffer(size, layout)
    let stride = size.width * bands
    for row in 0..<size.height {
      let target = result.memory.baseAddress! + row * stride
      let kept = row < height ? width * bands : 0
      target.update(from: memory.baseAddress! + row * width * bands, count: kept)
      for at in kept..<stride { target[at] = pixel[at % bands] }
    }
    return result
  }
}
