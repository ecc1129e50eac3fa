/// What an Accept-Encoding header takes (RFC 9110, section 12.5.3).
package struct ContentCodings {
  private let names: WeightedNames

  package init(_ header: String) { names = WeightedNames(header) }

  /// Brotli (RFC 7932), by name, unless its weight is 0: whoever takes anything has gzip, which all can read.
  package var takeBrotli: Bool { names.elements.contains { $0.name == "br" && $0.weight > 0 } }

  /// By name or `*`, unless its weight is 0.
  package var takeGzip: Bool {
    let named = names.elements.first { $0.name == "gzip" || $0.name == "x-gzip" }
    let weight = (named ?? names.elements.last { $0.name == "*" })?.weight
    return weight.map { $0 > 0 } ?? false
  }
}
