import Glibc

/// A request's path as the client sent it, percent-encoded, and its query, read without a copy. Positions count bytes
/// from the path's first one.
package struct RawPath {
  /// The path; if the request has a query, also the question mark and the query.
  private let bytes: UnsafeRawBufferPointer
  /// Length of the path alone in bytes.
  package let count: Int

  /// Creates a path without a query.
  package init(_ path: UnsafeRawBufferPointer) { (bytes, count) = (path, path.count) }

  /// - Parameters:
  ///   - target: the path, one byte between the two, and the query.
  ///   - count: length of the path in bytes.
  package init(_ target: UnsafeRawBufferPointer, count: Int) { (bytes, self.count) = (target, count) }

  /// - Parameter query: one byte behind the path, or empty.
  @inline(__always)
  package init(_ path: UnsafeRawBufferPointer, query: UnsafeRawBufferPointer) {
    // The path of an absolute URL that has no path is stored elsewhere.
    let isBehind = path.baseAddress.map { $0 + path.count + 1 } == query.baseAddress
    let length = isBehind ? path.count + 1 + query.count : path.count
    bytes = UnsafeRawBufferPointer(start: path.baseAddress, count: length)
    count = path.count
  }

  /// The range of the query; empty if the request has no query.
  package var query: Range<Int> { min(count + 1, bytes.count)..<bytes.count }

  package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  // Inlined, so that a literal is compared without a loop over it.
  @inline(__always)
  package func has(_ text: StaticString, at start: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard start >= 0, bytes.count - start >= length, let path = bytes.baseAddress else { return false }
    return memcmp(path + start, text.utf8Start, length) == 0
  }

  @inline(__always)
  package func starts(with text: StaticString) -> Bool { has(text, at: 0) }

  /// Whether the bytes that end before `end` are `text`, and begin at `start` or behind it.
  @inline(__always)
  package func has(_ text: StaticString, before end: Int, from start: Int) -> Bool {
    let at = end - text.utf8CodeUnitCount
    return at >= start && has(text, at: at)
  }

  /// Whether the part from `start` to `end` is `text`.
  @inline(__always)
  package func isPart(_ text: StaticString, from start: Int, to end: Int) -> Bool {
    end - start == text.utf8CodeUnitCount && has(text, at: start)
  }

  /// Returns the number in `range`; nil if it is not in its one spelling.
  package func number(_ range: Range<Int>) -> Int? {
    var reader = PathReader(self, from: range.lowerBound, to: range.upperBound)
    guard let number = reader.number(), reader.isAtEnd else { return nil }
    return number
  }

  /// Returns the position of the last slash between `start` and `end`; nil if there is no slash.
  package func slash(before end: Int, from start: Int) -> Int? {
    var at = end - 1
    while at >= start {
      if bytes[at] == UInt8(ascii: "/") { return at }
      at -= 1
    }
    return nil
  }
}
