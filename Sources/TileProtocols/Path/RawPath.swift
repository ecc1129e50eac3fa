import Glibc

/// A request's path as it was sent, percent-encoding and all, looked at without a copy.
package struct RawPath {
  package let bytes: UnsafeRawBufferPointer

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  package var count: Int { bytes.count }

  package func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  // Inlined, so that a literal is compared with and not walked.
  @inline(__always)
  package func has(_ text: StaticString, at start: Int) -> Bool {
    let length = text.utf8CodeUnitCount
    guard start >= 0, bytes.count - start >= length, let path = bytes.baseAddress else { return false }
    return memcmp(path + start, text.utf8Start, length) == 0
  }

  @inline(__always)
  package func starts(with text: StaticString) -> Bool { has(text, at: 0) }

  /// Whether what ends at `end` is `text`, and begins at `start` or behind it.
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

  /// The number that the part is, in its one spelling.
  package func number(_ range: Range<Int>) -> Int? {
    var reader = PathReader(self, from: range.lowerBound, to: range.upperBound)
    guard let number = reader.number(), reader.isAtEnd else { return nil }
    return number
  }

  /// The place of the last slash between `start` and `end`.
  package func slash(before end: Int, from start: Int) -> Int? {
    var at = end - 1
    while at >= start {
      if bytes[at] == UInt8(ascii: "/") { return at }
      at -= 1
    }
    return nil
  }
}
