import ZigguratTileProtocols

/// A query for logs: the values of known parameters, and `*` for everything else, which may contain a password. It
/// is cut at the id of a private space.
package struct LoggedQuery {
  package let text: String

  /// - Parameters:
  ///   - query: the query as sent, without the `?`.
  ///   - showsMetadata: whether search terms and cursors may be logged.
  package init(_ query: UnsafeRawBufferPointer, showsMetadata: Bool) {
    for part in query.split(separator: UInt8(ascii: "&")) {
      guard let end = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = String(decoding: part[..<end], as: UTF8.self)
      guard TileRequest.idParameters.contains(name.lowercased()) else { continue }
      // Like the last segment of a path.
      let path = LoggedPath(slashed: part[part.index(after: end)...])
      guard path.isWhole else {
        text = "\(name)=\(path.text.dropFirst())"
        return
      }
    }
    text = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { part in
      guard let end = part.firstIndex(of: UInt8(ascii: "=")) else { return part.isEmpty ? "" : "*" }
      let name = String(decoding: part[..<end], as: UTF8.self)
      let isShown = Self.numbers.contains(name) || TileRequest.parameters.contains(name.lowercased())
      guard isShown || Self.searches.contains(name) else { return "*" }
      guard showsMetadata || isShown else { return name + "=*" }
      return name + String(decoding: part[end...], as: UTF8.self)
    }.joined(separator: "&")
  }

  private static let searches: Set<String> = ["q", "cursor"]
  private static let numbers = ViewportQuery.parameterNames.union(["limit"])
}
