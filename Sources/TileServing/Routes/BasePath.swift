import Foundation
import ZigguratTileProtocols

/// The path of `--base-url`, below which clients reach the server.
///
/// Requests are accepted with and without it, because a proxy may strip it.
package struct BasePath: Sendable {
  /// Begins with a slash and does not end in one; empty if the server is at the root of its host.
  let text: String
  private let bytes: [UInt8]
  /// Whether a path below it may be a path of the server itself, as `/iiif/3/…` is below
  /// `https://example.org/iiif`.
  private let isAmbiguous: Bool

  /// - Parameter url: `--base-url`, with or without a trailing slash; empty if not set.
  package init(of url: String) {
    var text = ""
    if let authority = url.range(of: "://")?.upperBound, let slash = url[authority...].firstIndex(of: "/") {
      text = String(url[slash...])
    }
    while text.hasSuffix("/") { text.removeLast() }
    self.text = text
    bytes = Array(text.utf8)
    let first = text.split(separator: "/").first.map(String.init) ?? ""
    isAmbiguous =
      ["view", "embed", "api", "iiif"].contains(first) || TileRequest.labels.contains(first)
  }

  /// Whether the path is identical in a URL, in a request and in an attribute of a page.
  package var isPlain: Bool {
    let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    return segments.allSatisfy { segment in
      !segment.isEmpty && segment != "." && segment != ".."
        && segment.utf8.allSatisfy {
          switch $0 {
          case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x25, 0x2d, 0x2e, 0x5f, 0x7e: true
          default: false
          }
        }
    }
  }

  /// Removes the base from a path. Returns the path unchanged if it does not begin with the base. `/metrics` is
  /// also unchanged, because it is only for clients that reach the server directly.
  /// - Parameter path: the path as sent.
  package func removed(from path: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = bytes.count
    guard count > 0, path.count > count, path[count] == UInt8(ascii: "/"),
      bytes.withUnsafeBytes({ memcmp($0.baseAddress!, path.baseAddress!, count) == 0 })
    else { return path }
    let rest = UnsafeRawBufferPointer(rebasing: path[count...])
    // Otherwise a proxy that blocks this path and strips the base would expose it under the doubled base.
    if Self.isMetrics(rest) { return path }
    guard isAmbiguous else { return rest }
    return Self.isPage(rest) && !Self.isPage(path) ? path : rest
  }

  /// Prefixes root-relative paths in the attributes of a page with the base.
  func put(inFrontOfPathsIn bytes: [UInt8]) -> [UInt8] {
    guard !text.isEmpty, let page = String(validating: bytes, as: UTF8.self) else { return bytes }
    return Array(page.replacing("=\"/", with: "=\"\(text)/").utf8)
  }

  /// Whether the path is `/metrics` in any percent-encoding.
  private static func isMetrics(_ path: UnsafeRawBufferPointer) -> Bool {
    guard path.count <= 3 * "/metrics".utf8.count, !path.dropFirst().contains(UInt8(ascii: "/")) else {
      return false
    }
    if case .metrics = try? NormalizedPath(Array(path)).route { return true }
    return false
  }

  private static func isPage(_ path: UnsafeRawBufferPointer) -> Bool {
    if case .page = Route(path, query: UnsafeRawBufferPointer(start: nil, count: 0)) { true } else { false }
  }
}
