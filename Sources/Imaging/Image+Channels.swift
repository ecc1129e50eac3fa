extension Image {
  /// Gray as shades of one colour, in floats that are not rounded yet.
  ///
  /// - Parameter colour: red, green and blue of white, each 0…1.
  package func coloured(_ colour: [Double]) throws(ImagingError) -> Image {
    try Operation.run(
      "linear", subject, ["in": .image(self), "a": .doubles(colour), "b": .doubles([0, 0, 0])])
  }

  /// The sums of values.
  package func added(_ other: Image) throws(ImagingError) -> Image {
    try Operation.run("add", subject, ["left": .image(self), "right": .image(other)])
  }

  /// Three bands of numbers as 8-bit sRGB, clipped.
  package func roundedToRGB() throws(ImagingError) -> Image {
    try scaledToBytes(factor: 1, offset: 0, alpha: 1).said(toBe: "srgb")
  }
}
