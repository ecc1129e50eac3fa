extension Image {
  /// The least and the greatest value of the first `bands` bands; reads every pixel of two images that
  /// `open` gives, one for each.
  package static func range(
    ofFirst bands: Int, _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> (least: Double, greatest: Double) {
    func extreme(_ operation: String) throws(ImagingError) -> Double {
      let image = try open().bands(from: 0, count: bands)
      return try Operation.runToNumber(operation, image.subject, ["in": .image(image)])
    }
    return (try extreme("min"), try extreme("max"))
  }

  /// Every value × `factor` + `offset`, as unsigned bytes, clipped.
  package func scaledToBytes(factor: Double, offset: Double) throws(ImagingError) -> Image {
    try Operation.run(
      "linear", subject,
      // `linear` cuts fractions off where it makes bytes; half of one more rounds.
      ["in": .image(self), "a": .doubles([factor]), "b": .doubles([offset + 0.5]), "uchar": .bool(true)])
  }
}
