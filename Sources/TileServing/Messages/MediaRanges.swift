/// What an Accept header asks for (RFC 9110, section 12.5.1).
struct MediaRanges {
  private var weights: [String: Double] = [:]

  /// Parameters other than the weight are passed over.
  init(_ header: String) {
    for part in header.lowercased().split(separator: ",") {
      let fields = part.split(separator: ";", omittingEmptySubsequences: false)
        .map { $0.filter { !$0.isWhitespace } }
      let weight = fields.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      weights[fields[0]] = max(weights[fields[0]] ?? 0, weight)
    }
  }

  /// The media type of the largest weight; of several that named by itself, of several of these the first.
  /// - Parameter offered: at least one; the first also where none is wanted.
  func best(of offered: [String]) -> String {
    var (best, most) = (offered[0], 0.0)
    for type in offered {
      let range = String(type.prefix { $0 != "/" }) + "/*"
      // To be named counts for less than any weight, which has three digits.
      let weight = weights[type].map { $0 > 0 ? $0 + 0.0001 : 0 } ?? weights[range] ?? weights["*/*"] ?? 0
      if weight > most { (best, most) = (type, weight) }
    }
    return best
  }
}
