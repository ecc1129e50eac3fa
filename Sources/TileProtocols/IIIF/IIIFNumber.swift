import TileGeometry

/// Numbers in IIIF's notation: digits, and in decimal numbers at most one point.
enum IIIFNumber {
  /// Returns a decimal number; nil for signs, exponents and spaces. A leading zero may be missing (3.0, section 4.7: it
  /// should be there).
  static func decimal(_ text: UnsafeRawBufferPointer) -> Double? {
    var reader = PathReader(text)
    if let whole = reader.digits(), reader.isAtEnd { return Double(whole) }
    var points = 0
    for byte in text {
      if byte == UInt8(ascii: ".") {
        points += 1
      } else if !(0x30...0x39).contains(byte) {
        return nil
      }
    }
    guard text.count <= 64, points <= 1, let last = text.last, last != UInt8(ascii: ".") else { return nil }
    return Double("0" + String(decoding: text, as: UTF8.self))
  }

  /// Returns a percentage of a side in pixels, correct to a hundred-millionth of a pixel.
  ///
  /// Half a pixel of a decimal percentage stays half a pixel: 84.71% of 5,000 is 4,235.5. The product of the binary
  /// fractions is less.
  static func pixels(_ percent: Double, percentOf side: Int) -> Double {
    (Double(side) * percent * 1e6).rounded() / 1e8
  }
}

extension URLWriter {
  /// Writes a number as briefly as possible, to a millionth (3.0, section 4.7). An integer has no point.
  mutating func put(decimal number: Double) {
    // Nearly all rotations are 0.
    if number == 0 { return put("0") }
    let millionths = Int((number * 1e6).rounded())
    var (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    put(whole)
    guard rest > 0 else { return }
    put(".")
    while rest > 0 {
      (whole, rest) = (rest * 10).quotientAndRemainder(dividingBy: 1_000_000)
      put(whole)
    }
  }

  /// Writes a region of an image: `full` if it is the whole image.
  mutating func put(region: PixelRect, of image: PixelSize) {
    if region.x == 0, region.y == 0, region.width == image.width, region.height == image.height {
      put("full")
    } else {
      put(region: region)
    }
  }

  mutating func put(region: PixelRect) {
    put(region.x)
    put(",")
    put(region.y)
    put(",")
    put(region.width)
    put(",")
    put(region.height)
  }

  /// - Parameter height: nil if it follows from the width.
  mutating func put(size width: Int, _ height: Int?) {
    put(width)
    put(",")
    if let height { put(height) }
  }
}
