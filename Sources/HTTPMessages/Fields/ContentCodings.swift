/// The codings that an Accept-Encoding header accepts (RFC 9110, section 12.5.3). A coding with a lower weight than the
/// plain bytes is not used.
package struct ContentCodings {
  private let names: QualityValues

  package init(_ header: String) { names = QualityValues(header) }

  /// Whether the client accepts Brotli (RFC 7932) by name, with a weight that is not 0 and not below gzip's. All
  /// clients that accept any coding can read gzip.
  package var takeBrotli: Bool {
    let weight = weight(of: "br")
    return weight > 0 && weight >= plainWeight && weight >= gzipWeight
  }

  /// Whether the client accepts gzip, by name or `*`, with a weight that is not 0.
  package var takeGzip: Bool { gzipWeight > 0 && gzipWeight >= plainWeight }

  private var gzipWeight: Int {
    let named = names.elements.first { $0.name == "gzip" || $0.name == "x-gzip" }
    return (named ?? names.elements.last { $0.name == "*" })?.weight ?? 0
  }

  /// The weight of plain bytes. It is 0 if they are not named: then every named coding is preferred.
  private var plainWeight: Int {
    let isNamed = names.elements.contains { $0.name == "identity" }
    // An asterisk stands for every coding that is not named. If it stands for gzip as well, both have the same weight.
    return weight(of: isNamed ? "identity" : "*")
  }

  private func weight(of name: String) -> Int { names.elements.last { $0.name == name }?.weight ?? 0 }
}
