/// Numbers as IIIF writes them: digits, and where it says so one point among them.
enum IIIFNumber {
  /// Nil for signs, exponents, spaces, and numbers that no image has.
  static func whole(_ text: Substring) -> Int? {
    guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  /// A leading zero may be missing (3.0, section 4.7: it should be there).
  static func decimal(_ text: Substring) -> Double? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard text.utf8.count <= 64, parts.last?.isEmpty == false,
      parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    return Double("0" + text)
  }

  /// As short as can be, to a millionth (3.0, section 4.7): digits, and a point where it is no whole number.
  static func text(_ number: Double) -> String {
    let millionths = Int((number * 1e6).rounded())
    let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
    guard rest > 0 else { return String(whole) }
    var digits = String(1_000_000 + rest).dropFirst()
    while digits.last == "0" { digits = digits.dropLast() }
    return "\(whole).\(digits)"
  }
}
