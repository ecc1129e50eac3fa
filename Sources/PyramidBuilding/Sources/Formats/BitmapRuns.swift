import TileStorage
import ZigguratFiles

/// The run-length stream of a BMP file (Windows GDI, "Bitmap Compression"): BI_RLE8 and BI_RLE4. ImageMagick does not
/// report a damaged stream.
///
/// A stream may omit pixels by an early end of a row or of the picture, and by moves. Only few writers do so, and they
/// do it in most rows.
enum BitmapRuns {
  /// The defects of a stream that does not have one colour for each pixel.
  private struct Findings {
    /// Rows that end before their last pixel, and pixels without a colour.
    var (shortRows, missingPixels) = (0, 0)
    var hasMoves = false
    var isTooLong = false
    var isCutOff = false
  }

  /// Returns the damage of a file with runs; nil if each pixel has a colour, or there are no runs.
  static func damage(_ start: [UInt8], _ file: SourceFile) -> SourceDamage? {
    func number(_ at: Int) -> Int {
      Int(Int32(truncatingIfNeeded: ByteOrder.little.number(start, at: at, 4)))
    }
    guard start.count >= 34, number(14) >= 40 else { return nil }
    let (width, height) = (number(18), number(22))
    let isNarrow = start[28] == 4
    // With other bit depths, the compression numbers have other meanings.
    guard width > 0, height > 0, (number(30), start[28]) == (1, 8) || (number(30), start[28]) == (2, 4) else {
      return nil
    }
    let found = findings(SourceBytes(file, at: number(10)), width, height, isNarrow: isNarrow)
    if found.isTooLong { return RunLengths.contradiction("BMP") }
    guard found.missingPixels > 0 else { return nil }
    let missing = "\(found.missingPixels) of \(width * height) pixels have no colour"
    if found.isCutOff { return SourceDamage(.truncated, "the BMP file is cut off: \(missing)") }
    return found.hasMoves || found.shortRows > height / 2
      ? SourceDamage(.warning, "the BMP file leaves pixels out: \(missing)")
      : SourceDamage(.error, "the BMP file is damaged: \(missing)")
  }

  private static func findings(
    _ start: SourceBytes, _ width: Int, _ height: Int, isNarrow: Bool
  ) -> Findings {
    var cursor = start
    var found = Findings()
    var (x, y) = (0, 0)
    // Writers of 4 bits may round a row up to a whole byte.
    let most = width + (isNarrow ? 1 : 0)
    func leaveRows(_ count: Int) {
      guard count > 0, y < height else { return }
      found.shortRows += x < width ? 1 : 0
      found.missingPixels += max(0, width - x) + (min(count, height - y) - 1) * width
    }
    while let count = cursor.next(), let value = cursor.next() {
      switch (count, value) {
      case (0, 0):
        leaveRows(1)
        x = 0
        y += 1
      case (0, 1):
        leaveRows(height - y)
        return found
      case (0, 2):
        guard let right = cursor.next(), let up = cursor.next() else { break }
        found.hasMoves = true
        // The pixels between the two positions.
        found.missingPixels += width * Int(up) + Int(right)
        x += Int(right)
        y += Int(up)
        if x > width || y > height { found.isTooLong = true }
      case (0, _):
        x += Int(value)
        if y >= height || x > most { found.isTooLong = true }
        let bytes = isNarrow ? (Int(value) + 1) / 2 : Int(value)
        guard cursor.skip(bytes + bytes % 2) else {
          found.isCutOff = true
          leaveRows(height - y)
          return found
        }
      default:
        x += Int(count)
        if y >= height || x > most { found.isTooLong = true }
      }
      if found.isTooLong { return found }
    }
    // The end marker is missing, but all pixels are there.
    found.isCutOff = true
    leaveRows(height - y)
    return found
  }
}
