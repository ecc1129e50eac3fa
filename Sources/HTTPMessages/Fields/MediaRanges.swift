/// What an Accept header asks for (RFC 9110, section 12.5.1).
package struct MediaRanges {
  private var weights: [Substring: Int] = [:]

  package init(_ header: String) {
    for (name, weight) in WeightedNames(header).elements { weights[name] = max(weights[name] ?? 0, weight) }
  }

  /// The media type of the largest weight; of several that named by itself, of several of these the first.
  /// - Parameter offered: at least one; the first also where none is wanted.
  package func best(of offered: [String]) -> String {
    var (best, most) = (offered[0], 0)
    for type in offered {
      let range = type.prefix { $0 != "/" } + "/*"
      // To be named counts for less than any difference of weights.
      let named = weights[type[...]].map { $0 > 0 ? 2 * $0 + 1 : 0 }
      let weight = named ?? 2 * (weights[range] ?? weights["*/*"] ?? 0)
      if weight > most { (best, most) = (type, weight) }
    }
    return best
  }
}
