package import TileGeometry

extension PixelBuffer {
  /// The pixels with alpha, opaque if they had none.
  ///
  /// - Precondition: the layout is interleaved.
  var withAlpha: PixelBuffer {
    guard case .interleaved(let bands) = layout, !layout.hasAlpha else { return self }
    let count = bands.count
    let result = PixelBuffer(size, .interleaved(layout.bands.isGray ? .grayAlpha : .rgba))
    let (from, to) = (memory.baseAddress!, result.memory.baseAddress!)
    for pixel in 0..<size.width * size.height {
      for band in 0..<count { to[pixel * (count + 1) + band] = from[pixel * count + band] }
      to[pixel * (count + 1) + count] = 255
    }
    return result
  }

  /// Returns the pixels at the top left of a larger area that otherwise has the colour `color`.
  ///
  /// - Parameters:
  ///   - size: at least this size.
  ///   - color: red, green, blue.
  ///   - alpha: the alpha of the area, if the layout has it. Lossy encoders also encode the colour of transparent
  ///     pixels.
  /// - Precondition: the layout is interleaved.
  package func padded(to size: PixelSize, with color: [Int], alpha: Int = 255) -> PixelBuffer {
    precondition(size.width >= width && size.height >= height, "padding makes nothing smaller")
    let gray = color.reduce(0, +) / 3
    let pixel = ((layout.bands.isGray ? [gray] : color) + (layout.hasAlpha ? [alpha] : [])).map {
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
