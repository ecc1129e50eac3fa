import Glibc
import ZigguratCMicroHTTPD
import ZigguratTileServing

/// A request's path and query as sent, without a copy.
///
/// The daemon would split the query into parameters, each of which takes memory of the connection. A few hundred would
/// exhaust it, and the connection would end without a response. Therefore the query is hidden: its first byte becomes
/// NUL before the daemon reads it, and is restored for the handler.
struct RequestTarget {
  /// The path without the query and without the path of `--base-url`.
  let path: UnsafeRawBufferPointer
  /// The authority of a target in absolute form, which replaces Host (RFC 9112, section 3.2.2).
  let authority: UnsafeBufferPointer<UInt8>?
  /// The query without the `?`.
  let query: UnsafeRawBufferPointer
  /// The start of the target in the request line, and its end at the first NUL. The NUL is the daemon's unless the
  /// client sent one.
  private let start: UnsafePointer<CChar>
  private let end: UnsafeRawPointer

  /// The target of a request whose request line is unknown, for the log.
  static var none: RequestTarget { RequestTarget() }

  private init() {
    let text: StaticString = "-"
    path = UnsafeRawBufferPointer(start: text.utf8Start, count: 1)
    authority = nil
    query = UnsafeRawBufferPointer(rebasing: path[1...])
    start = UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    end = UnsafeRawPointer(start) + 1
  }

  /// - Parameters:
  ///   - url: the URL of the daemon, which ends in a NUL in place of the `?`.
  ///   - hidden: the result of `hide` for this request.
  ///   - base: a path that the request's path may begin with.
  init(_ url: UnsafePointer<CChar>, _ hidden: CChar?, below base: BasePath) {
    let count = strlen(url)
    let whole = UnsafeRawBufferPointer(start: url, count: count)
    let absolute = Self.absolute(whole)
    path = base.removed(from: absolute?.path ?? whole)
    authority = absolute?.authority
    start = url
    if let hidden {
      // The text is in the connection's own memory, which only this thread writes.
      let start = UnsafeMutablePointer(mutating: url + count + 1)
      start.pointee = hidden
      query = UnsafeRawBufferPointer(start: start, count: strlen(start))
      end = UnsafeRawPointer(start) + query.count
    } else {
      query = UnsafeRawBufferPointer(rebasing: whole[count...])
      end = UnsafeRawPointer(url) + count
    }
  }

  /// Whether exactly one space is before and after the target. A NUL sent by the client would hide the rest of the
  /// target.
  func fills(from method: UnsafePointer<CChar>, to version: UnsafePointer<CChar>) -> Bool {
    method + strlen(method) + 1 == start && end + 1 == UnsafeRawPointer(version)
  }

  /// Returns the parts of `http://host/path`, which every server must accept (RFC 9112, section 3.2.2); nil for other
  /// forms.
  private static func absolute(
    _ url: UnsafeRawBufferPointer
  ) -> (authority: UnsafeBufferPointer<UInt8>, path: UnsafeRawBufferPointer)? {
    // Nearly always, the first byte is "/".
    guard url.count > 7, url[0] | 0x20 == 0x68, let text = url.baseAddress else { return nil }
    let characters = text.assumingMemoryBound(to: CChar.self)
    let isPlain = strncasecmp(characters, "http://", 7) == 0
    guard isPlain || strncasecmp(characters, "https://", 8) == 0 else { return nil }
    let host = url[(isPlain ? 7 : 8)...]
    let slash = host.firstIndex(of: 0x2f) ?? host.endIndex
    guard slash > host.startIndex, !host[..<slash].contains(0x20) else { return nil }
    let authority = UnsafeRawBufferPointer(rebasing: host[..<slash]).assumingMemoryBound(to: UInt8.self)
    let root: StaticString = "/"
    return (
      authority,
      slash < host.endIndex
        ? UnsafeRawBufferPointer(rebasing: url[slash...])
        : UnsafeRawBufferPointer(start: root.utf8Start, count: 1)
    )
  }

  /// Hides the query of a request line's URI. Returns its first byte; nil if there is no query.
  static func hide(_ uri: UnsafePointer<CChar>) -> CChar? {
    guard let mark = strchr(uri, 0x3f) else { return nil }
    let start = UnsafeMutablePointer(mutating: mark + 1)
    defer { start.pointee = 0 }
    return start.pointee
  }

  var count: Int { path.count + query.count }

  /// Whether the target contains a space: the daemon's target ends at the last space (RFC 9112, section 3.2).
  var hasSpace: Bool {
    func holds(_ part: UnsafeRawBufferPointer) -> Bool {
      part.baseAddress.map { memchr($0, 0x20, part.count) != nil } ?? false
    }
    return holds(path) || holds(query)
  }

  /// Returns path and query as text for the log. Content of a private space is omitted.
  ///
  /// - Returns: the text, and whether nothing was omitted.
  func logged(showsMetadata: Bool) -> (target: (path: String, query: String), isWhole: Bool) {
    let path = LoggedPath(path)
    return (
      (path.text, path.isWhole ? LoggedQuery(query, showsMetadata: showsMetadata).text : ""), path.isWhole
    )
  }
}
