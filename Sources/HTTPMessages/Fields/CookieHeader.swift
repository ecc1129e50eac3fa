/// A Cookie header's bytes (RFC 6265, section 4.2), parsed in place: this is done for every private tile.
package struct CookieHeader {
  private let bytes: UnsafeBufferPointer<UInt8>

  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The cookies of one name.
  package struct Values {
    package fileprivate(set) var count = 0
    fileprivate var last = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

    /// The only value. Nil also for several: the server's own one cannot be identified.
    package var onlyOne: UnsafeBufferPointer<UInt8>? { count == 1 ? last : nil }
  }

  package func values(_ name: [UInt8]) -> Values {
    let (space, semicolon, equals) = (UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: "="))
    let length = name.count
    var values = Values()
    var at = 0
    while at < bytes.count {
      while at < bytes.count, bytes[at] == space { at += 1 }
      var end = at
      while end < bytes.count, bytes[end] != semicolon { end += 1 }
      if end - at > length, bytes[at + length] == equals,
        UnsafeBufferPointer(rebasing: bytes[at..<(at + length)]).elementsEqual(name)
      {
        values.count += 1
        values.last = UnsafeBufferPointer(rebasing: bytes[(at + length + 1)..<end])
      }
      at = end + 1
    }
    return values
  }
}
