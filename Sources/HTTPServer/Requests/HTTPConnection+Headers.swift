import Glibc
import ZigguratCMicroHTTPD
import ZigguratFiles
import ZigguratHTTPMessages

/// The headers of a connection's request, in the memory of libmicrohttpd.
extension HTTPConnection {
  /// Returns the value of a header's first line; `nil` if there is none. `Host` is the authority of the request, from
  /// the header or the target.
  func header(_ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
    // The authority stays in memory until the next request.
    if name[0] | 0x20 == 0x68, !request.authority.isEmpty, strcasecmp(name, "host") == 0 {
      return request.authority.withUnsafeBufferPointer { $0.baseAddress }
    }
    // The first cookie header of the daemon is the decoy.
    if name[0] | 0x20 == 0x63, strcasecmp(name, "cookie") == 0 { return request.cookie }
    return MHD_lookup_connection_value(handle, .HEADER_KIND, name)
  }

  /// Returns the lines of a list header as one, joined by commas.
  ///
  /// - Parameter first: the value of its first line.
  func list(_ name: String, first: UnsafePointer<CChar>) -> String {
    var lines = Lines(name: name)
    // The daemon calls back before it returns.
    withUnsafeMutablePointer(to: &lines) {
      _ = MHD_get_connection_values(
        handle, .HEADER_KIND,
        { lines, _, name, value in
          guard let lines = lines?.assumingMemoryBound(to: Lines.self), let name, let value else {
            return .YES
          }
          if strcasecmp(name, lines.pointee.name) == 0 { lines.pointee.values.append(String(cString: value)) }
          return .YES
        }, $0)
    }
    return lines.values.isEmpty ? String(cString: first) : lines.values.joined(separator: ", ")
  }

  /// Looks up the conditions of a GET or HEAD, which are valid while `use` runs.
  func withConditions<Result>(_ use: (Conditions) -> Result) -> Result {
    let isGet = request.isGet
    return withList("If-Match") { ifMatch in
      withList("If-None-Match") { ifNoneMatch in
        var conditions = Conditions(isGet: isGet)
        conditions.ifMatch = ifMatch
        conditions.ifNoneMatch = ifNoneMatch
        if isGet {
          conditions.range = header("Range")?.bytes
          if conditions.range != nil { conditions.ifRange = header("If-Range")?.bytes }
        }
        return use(conditions)
      }
    }
  }

  /// Calls `use` with all lines of a list as one; nothing is copied if there is one line.
  private func withList<Result>(
    _ name: StaticString, _ use: (UnsafeBufferPointer<UInt8>?) -> Result
  ) -> Result {
    let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let first = header(text) else { return use(nil) }
    var count = LineCount(name: text, size: name.utf8CodeUnitCount)
    withUnsafeMutablePointer(to: &count) {
      _ = MHD_get_connection_values_n(
        handle, .HEADER_KIND,
        { count, _, name, size, _, _ in
          guard let count = count?.assumingMemoryBound(to: LineCount.self), let name else { return .YES }
          // Nearly all other names have another length.
          if size == count.pointee.size, strncasecmp(name, count.pointee.name, size) == 0 {
            count.pointee.lines += 1
          }
          return .YES
        }, $0)
    }
    if count.lines == 1 { return use(first.bytes) }
    var lines = list("\(name)", first: first)
    return lines.withUTF8 { use($0) }
  }
}

private struct Lines {
  let name: String
  var values: [String] = []
}

private struct LineCount {
  let name: UnsafePointer<CChar>
  let size: Int
  var lines = 0
}

extension UnsafePointer<CChar> {
  /// The text without its NUL, not copied.
  var bytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: UnsafeRawPointer(self).assumingMemoryBound(to: UInt8.self), count: strlen(self))
  }
}

/// An empty Cookie header before the request's own.
///
/// The daemon copies the first Cookie header into the connection's memory and makes a record of 64 bytes for each
/// cookie in it. A few hundred short cookies would exhaust that memory, and a head within the limit would be refused.
/// Cookies are not read from the records, so the daemon gets an empty header to split.
enum CookieDecoy {
  // The decoy is recognized by its address, so it has memory of its own: equal literals may share theirs. The memory is
  // never written or freed, so it is safe to share.
  nonisolated(unsafe) private static let name: UnsafePointer<CChar> = UnsafePointer(strdup("Cookie"))
  nonisolated(unsafe) private static let value: UnsafePointer<CChar> = UnsafePointer(strdup(""))

  static func add(to handle: OpaquePointer) {
    MHD_set_connection_value_n(handle, .HEADER_KIND, name, 6, value, 0)
  }

  static func isDecoy(_ name: UnsafePointer<CChar>) -> Bool { name == Self.name }
}
