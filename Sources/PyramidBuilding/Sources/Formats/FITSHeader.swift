import ZigguratFiles

/// The header-data units of a FITS file (FITS Standard 4.0, section 3). libvips reads the first one with an image.
struct FITSHeader {
  /// Units with data.
  let unitsWithData: Int
  /// The value, after scaling, of pixels without one, if the samples of the first unit with data are integers (section
  /// 4.4.2.5).
  let blankValue: Double?

  private static let blockSize = 2880
  /// Units and blocks of a header that are looked at.
  private static let (maxUnits, maxBlocks) = (1000, 1000)

  /// `nil` if the file is no FITS.
  init?(_ file: SourceFile) {
    guard file.bytes(0, 6)?.elementsEqual("SIMPLE".utf8) == true else { return nil }
    var (at, count) = (0, 0)
    var blank: Double?
    for _ in 0..<Self.maxUnits {
      guard let unit = Self.unit(file, at) else { break }
      if unit.dataSize > 0 { count += 1 }
      if count == 1, unit.dataSize > 0 { blank = unit.blank }
      guard case (let next, false) = unit.end.addingReportingOverflow(unit.dataSize), next > at else { break }
      at = next
    }
    unitsWithData = count
    blankValue = blank
  }

  /// Returns the place behind a unit's header, the size of its data in whole blocks, and the value of pixels without
  /// one.
  private static func unit(_ file: SourceFile, _ start: Int) -> (end: Int, dataSize: Int, blank: Double?)? {
    var values: [String: Int] = [:]
    var numbers: [String: Double] = [:]
    for block in 0..<maxBlocks {
      guard let bytes = file.bytes(start + block * blockSize, blockSize) else { return nil }
      if block == 0, !bytes.starts(with: "SIMPLE".utf8), !bytes.starts(with: "XTENSION".utf8) { return nil }
      for card in stride(from: 0, to: blockSize, by: 80) {
        let text = String(decoding: bytes[card..<card + 80], as: UTF8.self)
        let name = text.prefix(8).split(separator: " ").first.map(String.init) ?? ""
        if name == "END" {
          let blank = values["BITPIX"].flatMap { $0 > 0 ? values["BLANK"] : nil }.map {
            Double($0) * (numbers["BSCALE"] ?? 1) + (numbers["BZERO"] ?? 0)
          }
          return (start + (block + 1) * blockSize, dataSize(values), blank)
        }
        guard text.dropFirst(8).hasPrefix("=") else { continue }
        guard let value = text.dropFirst(9).prefix(while: { $0 != "/" }).split(separator: " ").first else {
          continue
        }
        if let whole = Int(value) { values[name] = whole }
        // Fortran's exponents of doubles.
        if let number = Double(value.replacing("D", with: "E")) { numbers[name] = number }
      }
    }
    return nil
  }

  /// Section 4.4.1.1, formulas 1 and 2; 0 if it is out of range.
  private static func dataSize(_ values: [String: Int]) -> Int {
    let axes = values["NAXIS"] ?? 0
    guard 1...999 ~= axes else { return 0 }
    var count = 1
    for axis in 1...axes {
      guard let length = values["NAXIS\(axis)"], length > 0,
        case (let product, false) = count.multipliedReportingOverflow(by: length), product < 1 << 40
      else { return 0 }
      count = product
    }
    let (heap, groups, bits) = (values["PCOUNT"] ?? 0, values["GCOUNT"] ?? 1, values["BITPIX"] ?? 8)
    guard 0..<1 << 40 ~= heap, 1...4096 ~= groups, -64...64 ~= bits else { return 0 }
    let size = abs(bits) / 8 * groups * (heap + count)
    return (size + blockSize - 1) / blockSize * blockSize
  }
}
