import CMicroHTTPD
import Files
import Glibc

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
