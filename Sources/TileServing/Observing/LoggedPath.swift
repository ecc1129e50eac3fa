/// A path for logs. It is cut at `~`, where ids of private spaces begin, whether or not such an image exists.
package struct LoggedPath {
  package let text: String
  /// Whether nothing was cut off.
  package let isWhole: Bool

  /// - Parameter path: the path as sent.
  package init(_ path: UnsafeRawBufferPointer) {
    var at = 0
    while at < path.count {
      guard path[at] == UInt8(ascii: "/"), let end = Self.tilde(path, from: at + 1) else {
        at += 1
        continue
      }
      if end == path.count || Self.isSlash(path, at: end) {
        text = String(decoding: path[..<at], as: UTF8.self) + "/~"
        isWhole = false
        return
      }
      at += 1
    }
    text = String(decoding: path, as: UTF8.self)
    isWhole = true
  }

  /// Creates the logged form of an id without a leading slash.
  init(slashed id: some Collection<UInt8>) {
    self = ([UInt8(ascii: "/")] + id).withUnsafeBytes { LoggedPath($0) }
  }

  /// Returns the end of a `~`, escaped or not; `nil` if there is none.
  private static func tilde(_ path: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard start < path.count else { return nil }
    if path[start] == UInt8(ascii: "~") { return start + 1 }
    return isEscape(path, at: start, high: 0x37, low: "eE") ? start + 3 : nil
  }

  private static func isSlash(_ path: UnsafeRawBufferPointer, at start: Int) -> Bool {
    path[start] == UInt8(ascii: "/") || isEscape(path, at: start, high: 0x32, low: "fF")
  }

  private static func isEscape(
    _ path: UnsafeRawBufferPointer, at start: Int, high: UInt8, low: String
  ) -> Bool {
    start + 2 < path.count && path[start] == UInt8(ascii: "%") && path[start + 1] == high
      && low.utf8.contains(path[start + 2])
  }
}
