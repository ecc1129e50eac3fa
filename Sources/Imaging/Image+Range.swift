import CVips

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

  /// The least and the greatest value of the first `bands` bands of integer samples, none of which is in the upper half of
  /// its type's range, by amount where it has a sign; nil as soon as one is.
  package func rangeWithoutTopBit(ofFirst bands: Int) throws(ImagingError) -> (
    least: Double, greatest: Double
  )? {
    let region = vips_region_new(pointer)
    defer { g_object_unref(region) }
    var range: (least: Double, greatest: Double)?
    for y in stride(from: 0, to: height, by: 64) {
      var area = VipsRect(left: 0, top: Int32(y), width: Int32(width), height: Int32(min(64, height - y)))
      guard vips_region_prepare(region, &area) == 0 else { throw ImagingError.take("read", subject) }
      // VIPS_REGION_ADDR is a macro; these are its fields.
      let origin = region!.pointee.valid
      for row in 0..<Int(area.height) {
        let start =
          region!.pointee.data + (y + row - Int(origin.top)) * Int(region!.pointee.bpl)
          - Int(origin.left) * rowSize / width
        guard let found = sampleType.rangeWithoutTopBit(start, count: width, bands: self.bands, first: bands)
        else {
          return nil
        }
        range = range.map { (min($0.least, found.least), max($0.greatest, found.greatest)) } ?? found
      }
    }
    return range
  }

  /// The values of the first `colours` bands moved so that `low` becomes 0 and `high` 65535, clipped, as 16-bit
  /// samples of gray or RGB; a band behind them is alpha and keeps its share of white.
  package func spread(from low: Double, to high: Double, colours: Int) throws(ImagingError) -> Image {
    let factor = 65535 / (high - low)
    let alpha = 65535 / (sampleType.range?.upperBound ?? 255)
    let factors = (0..<bands).map { $0 < colours ? factor : alpha }
    // `cast` cuts fractions off; half of one more rounds.
    let offsets = (0..<bands).map { ($0 < colours ? -low * factor : 0) + 0.5 }
    let moved = try Operation.run(
      "linear", subject, ["in": .image(self), "a": .doubles(factors), "b": .doubles(offsets)])
    let cast = try Operation.run("cast", subject, ["in": .image(moved), "format": .name("ushort")])
    return try cast.said(toBe: colours < 3 ? "grey16" : "rgb16")
  }

  /// Every value × `factor` + `offset`, as unsigned bytes, clipped.
  package func scaledToBytes(factor: Double, offset: Double) throws(ImagingError) -> Image {
    try Operation.run(
      "linear", subject,
      // `linear` cuts fractions off where it makes bytes; half of one more rounds.
      ["in": .image(self), "a": .doubles([factor]), "b": .doubles([offset + 0.5]), "uchar": .bool(true)])
  }
}
