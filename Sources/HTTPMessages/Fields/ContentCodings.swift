/// The codings that an Accept-Encoding header takes (RFC 9110, section 12.5.3). One that the client wants less than the
/// plain bytes is not taken.
package struct ContentCodings {
  private let names: WeightedNames

  package init(_ header: String) { names = WeightedNames(header) }

  /// Brotli (RFC 7932), by name, unless its weight is 0 or gzip's is larger: all clients that take any coding can read
  /// gzip.
  package var takeBrotli: Bool {
    let weight = weight(of: "br")
    return weight > 0 && weight >= plainWeight && weight >= gzipWeight
  }

  /// By name or `*`, unless its weight is 0.
  package var takeGzip: Bool { gzipWeight > 0 && gzipWeight >= plainWeight }

  private var gzipWeight: Int {
    let named = names.elements.first { $0.name == "gzip" || $0.name == "x-gzip" }
    return (named ?? names.elements.last { $0.name == "*" })?.weight ?? 0
  }

  /// 0 if plain bytes are not named: then any coding that is named is wanted more.
  private var plainWeight: Int {
    let isNamed = names.elements.contains { $0.name == "identity" }
    // An asterisk stands for whatever is not named. If it stands for gzip as well, both are wanted alike.
    return weight(of: isNamed ? "identity" : "*")
  }

  private func weight(of name: String) -> Int { names.elements.last { $0.name == name }?.weight ?? 0 }
}
