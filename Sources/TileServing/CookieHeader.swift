/// A Cookie header's bytes (RFC 6265, section 4.2), read in place: this is done for every private tile.
struct CookieHeader {
  private let bytes: UnsafeBufferPointer<UInt8>

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The first value of that name.
  func value(_ name: [UInt8]) -> UnsafeBufferPointer<UInt8>? {
    let (space, semicolon, equals) = (UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: "="))
    let length = name.count
    var at = 0
    while at < bytes.count {
      while at < bytes.count, bytes[at] == space { at += 1 }
      var end = at
      while end < bytes.count, bytes[end] != semicolon { end += 1 }
      if end - at > length, bytes[at + length] == equals,
        UnsafeBufferPointer(rebasing: bytes[at..<(at + length)]).elementsEqual(name)
      {
        return UnsafeBufferPointer(rebasing: bytes[(at + length + 1)..<end])
      }
      at = end + 1
    }
    return nil
  }
}
