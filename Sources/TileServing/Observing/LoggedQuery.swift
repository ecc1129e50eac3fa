import ZigguratTileProtocols

/// A query as logs may have it: the values of parameters that the server knows, and `*` for whatever else was sent,
/// which may be somebody's password. Where an id of a private space stands in it, nothing is told from there on.
package struct LoggedQuery {
  package let text: String

  /// - Parameters:
  ///   - query: as sent, without the `?`.
  ///   - showsWords: whether what people search for and page through may be told.
  package init(_ query: UnsafeRawBufferPointer, showsWords: Bool) {
    for part in query.split(separator: UInt8(ascii: "&")) {
      guard let end = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = String(decoding: part[..<end], as: UTF8.self)
      guard TileRequest.idParameters.contains(name.lowercased()) else { continue }
      // As a path's last part.
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
      guard isShown || Self.words.contains(name) else { return "*" }
      guard showsWords || isShown else { return name + "=*" }
      return name + String(decoding: part[end...], as: UTF8.self)
    }.joined(separator: "&")
  }

  private static let words: Set<String> = ["q", "cursor"]
  private static let numbers = ViewportQuery.parameterNames.union(["limit"])
}
