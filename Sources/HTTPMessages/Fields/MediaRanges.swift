/// The media types that an Accept header accepts, for content negotiation (RFC 9110, section 12.5.1).
package struct MediaRanges {
  private var weights: [Substring: Int] = [:]

  package init(_ header: String) {
    for (name, weight) in QualityValues(header).elements { weights[name] = max(weights[name] ?? 0, weight) }
  }

  /// Returns the media type with the largest weight. Among equal weights, one that is named itself precedes one that
  /// matches a range; then the first offer wins.
  /// - Parameter offered: at least one; the first is also returned if the client accepts none.
  package func best(of offered: [String]) -> String {
    var (best, most) = (offered[0], 0)
    for type in offered {
      let range = type.prefix { $0 != "/" } + "/*"
      // Being named counts for less than any difference of weights.
      let named = weights[type[...]].map { $0 > 0 ? 2 * $0 + 1 : 0 }
      let weight = named ?? 2 * (weights[range] ?? weights["*/*"] ?? 0)
      if weight > most { (best, most) = (type, weight) }
    }
    return best
  }
}
