/// A Referer for logs, without user information, query and fragment, which may contain search terms or a password.
/// It is cut at `~`, where ids of private spaces begin.
package struct LoggedReferer {
  package let text: String

  /// - Parameter referer: the value as sent.
  package init(_ referer: UnsafeRawBufferPointer) {
    let end = referer.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? referer.count
    let hasQuery = end < referer.count && referer[end] == UInt8(ascii: "?")
    let (origin, path) = Self.split(UnsafeRawBufferPointer(rebasing: referer[..<end]))
    let logged = LoggedPath(path)
    text = origin + logged.text + (hasQuery && logged.isWhole ? "?*" : "")
  }

  /// Splits a URL into its scheme and host (empty if it has none) and its path.
  private static func split(_ url: UnsafeRawBufferPointer) -> (String, UnsafeRawBufferPointer) {
    let slash = UInt8(ascii: "/")
    guard let first = url.firstIndex(of: slash), first > 0, url[first - 1] == UInt8(ascii: ":"),
      first + 1 < url.count, url[first + 1] == slash
    else { return ("", url) }
    let start = first + 2
    let end = url[start...].firstIndex(of: slash) ?? url.count
    let host = url[start..<end].lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? start
    let origin =
      String(decoding: url[..<start], as: UTF8.self) + String(decoding: url[host..<end], as: UTF8.self)
    return (origin, UnsafeRawBufferPointer(rebasing: url[end...]))
  }
}
