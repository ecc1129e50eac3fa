/// What a client would take and how much it wants each: the elements of an Accept or Accept-Encoding header with
/// their weights (RFC 9110, sections 12.4.2, 12.5.1 and 12.5.3).
struct WeightedNames {
  /// In lower case, in the header's order.
  let elements: [(name: Substring, weight: Int)]

  /// The weight of what has none of its own, in thousandths.
  static let whole = 1000

  /// Parameters other than the weight are passed over; a weight that is none counts as 0.
  init(_ header: String) {
    elements = header.lowercased().split(separator: ",").map { element in
      let parts = element.split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) }
      return (parts[0], weight ?? Self.whole)
    }
  }

  /// Of `0.5` that is 500; 0 of what is no weight.
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
