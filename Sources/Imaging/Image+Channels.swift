extension Image {
  /// Gray as shades of one colour, in floats that are not rounded yet.
  ///
  /// - Parameter colour: red, green and blue of white, each 0…1.
  package func coloured(_ colour: [Double]) throws(ImagingError) -> Image {
    try linear(colour, [0, 0, 0])
  }

  /// The sums of values.
  package func added(_ other: Image) throws(ImagingError) -> Image {
    try Operation.run("add", subject, ["left": .image(self), "right": .image(other)])
  }

  /// Returns linear red, green and blue multiplied by a matrix; bands behind them stay.
  ///
  /// - Parameter matrix: a row for each of red, green and blue of the result.
  package func recombined(_ matrix: [[Double]]) throws(ImagingError) -> Image {
    var image = try bands(from: 0, count: 1).coloured(matrix.map { $0[0] })
    for band in 1..<3 {
      image = try image.added(bands(from: band, count: 1).coloured(matrix.map { $0[band] }))
    }
    if bands > 3 { image = try image.joined(with: bands(from: 3, count: bands - 3)) }
    return try image.said(toBe: interpretation)
  }

  /// Three bands of numbers as 8-bit sRGB, clipped.
  package func roundedToRGB() throws(ImagingError) -> Image {
    try scaledToBytes(factor: 1, offset: 0, alpha: 1).said(toBe: "srgb")
  }
}
