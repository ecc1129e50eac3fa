/// The part of a body that a Range header requests (RFC 9110, section 14).
package enum ByteRange: Hashable, Sendable {
  /// The header is ignored: another unit, several parts, or no valid range.
  case whole
  case part(Range<Int>)
  /// The body has no byte of the range.
  case unsatisfiable

  /// - Parameters:
  ///   - header: the request's header: `bytes=0-99`, `bytes=100-`, `bytes=-50`.
  ///   - length: the length of the body in bytes.
  package init(_ header: UnsafeBufferPointer<UInt8>, of length: Int) {
    var text = Scanner(header)
    text.skipBlanks()
    // Units are not case-sensitive (section 14.1).
    guard text.take("bytes=") else {
      self = .whole
      return
    }
    text.skipBlanks()
    let first = text.takeNumber()
    guard text.take("-") else {
      self = .whole
      return
    }
    let last = text.takeNumber()
    text.skipBlanks()
    guard text.isAtEnd else {
      self = .whole
      return
    }
    switch (first, last) {
    case (nil, nil): self = .whole
    case (nil, let count?): self.init(asked: length - min(count, length)..<length)
    case (let first?, nil): self.init(asked: min(first, length)..<length)
    case (let first?, let last?):
      if first > last {
        self = .whole
      } else {
        self.init(asked: min(first, length)..<(last < length ? last + 1 : length))
      }
    }
  }

  private init(asked: Range<Int>) { self = asked.isEmpty ? .unsatisfiable : .part(asked) }

  /// A parser of a header from its beginning, byte by byte.
  private struct Scanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var at = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { at == bytes.count }

    mutating func skipBlanks() {
      while at < bytes.count, bytes[at] == UInt8(ascii: " ") || bytes[at] == UInt8(ascii: "\t") { at += 1 }
    }

    /// - Parameter text: in lower case.
    mutating func take(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard bytes.count - at >= count else { return false }
      for place in 0..<count {
        let byte = bytes[at + place]
        let lower = (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
        if lower != text.utf8Start[place] { return false }
      }
      at += count
      return true
    }

    /// Reads a number; nil if no digit is next. A number that does not fit an `Int` lies behind any end.
    mutating func takeNumber() -> Int? {
      let start = at
      var value = 0
      while at < bytes.count, (0x30...0x39).contains(bytes[at]) {
        let (tens, isOver) = value.multipliedReportingOverflow(by: 10)
        let (sum, isFull) = tens.addingReportingOverflow(Int(bytes[at] - 0x30))
        value = isOver || isFull ? .max : sum
        at += 1
      }
      return at > start ? value : nil
    }
  }
}
