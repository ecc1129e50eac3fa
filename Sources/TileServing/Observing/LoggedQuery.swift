import TileProtocols

/// A query as logs may have it: the values of parameters that the server knows, and `*` for whatever else was sent,
/// which may be somebody's password.
package struct LoggedQuery {
  package let text: String

  /// - Parameters:
  ///   - query: as sent, without the `?`.
  ///   - showsWords: whether what people search for and page through may be told.
  package init(_ query: UnsafeRawBufferPointer, showsWords: Bool) {
    text = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { part in
      guard let end = part.firstIndex(of: UInt8(ascii: "=")) else { return part.isEmpty ? "" : "*" }
      let name = String(decoding: part[..<end], as: UTF8.self)
      guard Self.numbers.contains(name) || Self.words.contains(name) else { return "*" }
      guard showsWords || Self.numbers.contains(name) else { return name + "=*" }
      return name + String(decoding: part[end...], as: UTF8.self)
    }.joined(separator: "&")
  }

  private static let words: Set<String> = ["q", "cursor"]
  private static let numbers = ViewportQuery.parameterNames.union(["g", "limit"])
}
