import ZigguratText

/// The message about an unknown parameter of a query. If the server ignored it silently, a misspelt one would lead to a
/// wrong answer.
package struct UnknownParameter: CustomStringConvertible {
  package let description: String

  /// - Parameters:
  ///   - name: the decoded name.
  ///   - known: the known parameters.
  package init(_ name: String, besides known: [String]) {
    let short = name.count > 60 ? name.prefix(57) + "…" : name[...]
    let hint =
      nearest(name, known).map { "did you mean '\($0)'?" }
      ?? (known.isEmpty ? "this address takes none" : "this address takes \(known.joined(separator: ", "))")
    description = "unknown parameter '\(short)'; \(hint)"
  }
}
