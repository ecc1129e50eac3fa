import ZigguratText

/// What is said of a query's parameter that there is not: passed over without a word, a misspelt one would be a wrong
/// answer.
package struct UnknownParameter: CustomStringConvertible {
  package let description: String

  /// - Parameters:
  ///   - name: decoded.
  ///   - known: those that there are.
  package init(_ name: String, besides known: [String]) {
    let short = name.count > 60 ? name.prefix(57) + "…" : name[...]
    let hint =
      nearest(name, known).map { "did you mean '\($0)'?" }
      ?? (known.isEmpty ? "this address takes none" : "this address takes \(known.joined(separator: ", "))")
    description = "unknown parameter '\(short)'; \(hint)"
  }
}
