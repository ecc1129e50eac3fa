import Glibc
import ZigguratCMicroHTTPD
import ZigguratFiles
import ZigguratHTTPMessages

/// Returns the value of a header's first line; nil if there is none. `Host` is the authority that the request is sent
/// to, whether a header says it or not.
func header(_ connection: OpaquePointer, _ name: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
  if name[0] | 0x20 == 0x68, strcasecmp(name, "host") == 0, let known = deadline(connection) {
    let authority = known._withUnsafeGuaranteedRef { known in
      // It stays where it is until the next request.
      known.authority.isEmpty ? nil : known.authority.withUnsafeBufferPointer { $0.baseAddress }
    }
    if let authority { return authority }
  }
  // The first one that the daemon finds is the decoy.
  if name[0] | 0x20 == 0x63, strcasecmp(name, "cookie") == 0 {
    return deadline(connection)?._withUnsafeGuaranteedRef { $0.cookie }
  }
  return MHD_lookup_connection_value(connection, .HEADER_KIND, name)
}

/// An empty Cookie header that stands before a request's own.
///
/// The daemon copies the first Cookie header into the connection's memory and makes a record of 64 bytes for each
/// cookie in it. A few hundred short cookies used that memory up, and a head within the limit was refused. No cookie is
/// read that way, so the daemon is given nothing to split.
enum CookieDecoy {
  // Memory of its own, by whose address the decoy is known: equal literals may be one or several. Never written after it
  // was made, and never freed, so safe to share.
  nonisolated(unsafe) private static let name: UnsafePointer<CChar> = UnsafePointer(strdup("Cookie"))
  nonisolated(unsafe) private static let value: UnsafePointer<CChar> = UnsafePointer(strdup(""))

  static func add(to connection: OpaquePointer) {
    MHD_set_connection_value_n(connection, .HEADER_KIND, name, 6, value, 0)
  }

  static func isDecoy(_ name: UnsafePointer<CChar>) -> Bool { name == Self.name }
}

/// The lines of a header that is a list as one, with commas between.
/// - Parameter first: the value of its first line.
func listHeader(_ connection: OpaquePointer, _ name: String, first: UnsafePointer<CChar>) -> String {
  var lines = Lines(name: name)
  // The daemon calls back before this returns.
  withUnsafeMutablePointer(to: &lines) {
    _ = MHD_get_connection_values(
      connection, .HEADER_KIND,
      { lines, _, name, value in
        guard let lines = lines?.assumingMemoryBound(to: Lines.self), let name, let value else { return .YES }
        if strcasecmp(name, lines.pointee.name) == 0 { lines.pointee.values.append(String(cString: value)) }
        return .YES
      }, $0)
  }
  return lines.values.isEmpty ? String(cString: first) : lines.values.joined(separator: ", ")
}

private struct Lines {
  let name: String
  var values: [String] = []
}

/// Looks a read's conditions up, which are there as long as `use` runs.
func withConditions<Result>(
  _ connection: OpaquePointer, isGet: Bool, _ use: (Conditions) -> Result
) -> Result {
  withList(connection, "If-Match") { ifMatch in
    withList(connection, "If-None-Match") { ifNoneMatch in
      var conditions = Conditions(isGet: isGet)
      conditions.ifMatch = ifMatch
      conditions.ifNoneMatch = ifNoneMatch
      if isGet {
        conditions.range = header(connection, "Range").map(view)
        if conditions.range != nil { conditions.ifRange = header(connection, "If-Range").map(view) }
      }
      return use(conditions)
    }
  }
}

/// All lines of a list as one; nothing is copied where there is one line.
private func withList<Result>(
  _ connection: OpaquePointer, _ name: StaticString, _ use: (UnsafeBufferPointer<UInt8>?) -> Result
) -> Result {
  let text = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  guard let first = header(connection, text) else { return use(nil) }
  var count = LineCount(name: text, size: name.utf8CodeUnitCount)
  withUnsafeMutablePointer(to: &count) {
    _ = MHD_get_connection_values_n(
      connection, .HEADER_KIND,
      { count, _, name, size, _, _ in
        guard let count = count?.assumingMemoryBound(to: LineCount.self), let name else { return .YES }
        // Nearly all other names have another length.
        if size == count.pointee.size, strncasecmp(name, count.pointee.name, size) == 0 {
          count.pointee.lines += 1
        }
        return .YES
      }, $0)
  }
  if count.lines == 1 { return use(view(first)) }
  var lines = listHeader(connection, "\(name)", first: first)
  return lines.withUTF8 { use($0) }
}

private struct LineCount {
  let name: UnsafePointer<CChar>
  let size: Int
  var lines = 0
}

/// The text without its NUL, in place.
func view(_ text: UnsafePointer<CChar>) -> UnsafeBufferPointer<UInt8> {
  UnsafeBufferPointer(
    start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: strlen(text))
}
