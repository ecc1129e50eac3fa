/// The elements of an Accept or Accept-Encoding header with their weights (RFC 9110, sections 12.4.2, 12.5.1 and
/// 12.5.3).
struct QualityValues {
  /// The elements in lower case, in the header's order.
  let elements: [(name: Substring, weight: Int)]

  /// The weight of an element without one, in thousandths.
  static let whole = 1000

  /// Parses a header. Parameters other than the weight are ignored; an invalid weight counts as 0.
  init(_ header: String) {
    elements = header.lowercased().split(separator: ",").map { element in
      let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) }
      return (parts[0], weight ?? Self.whole)
    }
  }

  /// Returns a weight in thousandths, 500 for `0.5`; 0 for an invalid weight.
  private static func thousandths(_ text: Substring) -> Int {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let digits = parts.count == 2 ? parts[1] : ""
    guard ["0", "1"].contains(parts[0]), digits.utf8.count <= 3,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return 0 }
    let fraction = Int(digits + String(repeating: "0", count: 3 - digits.utf8.count)) ?? 0
    return parts[0] == "0" ? fraction : fraction == 0 ? whole : 0
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
