/// One message between a process and a cell: what it is about, and its bytes.
///
/// On the wire: kind and length, 4 bytes each, little-endian, then the bytes. Each side bounds the length by what
/// it expects: neither trusts the other's number.
package struct CellMessage: Sendable {
  /// What the two sides agreed on; this module gives it no meaning.
  package let kind: UInt32
  package let bytes: [UInt8]
  /// Descriptors that came along, now the receiver's to close; a cell's are never taken.
  package let files: [Int32]

  package init(kind: UInt32, bytes: [UInt8], files: [Int32] = []) {
    self.kind = kind
    self.bytes = bytes
    self.files = files
  }

  /// Bytes that a message may have unless its receiver says otherwise.
  package static let longest = 16 << 20

  static let headSize = 8

  static func head(kind: UInt32, count: Int) -> [UInt8] {
    precondition(count <= UInt32.max, "a message has less than 4 GB")
    return [kind, UInt32(count)].flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
  }

  static func parse(head: [UInt8]) -> (kind: UInt32, count: Int) {
    func word(_ at: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(head[at + $1]) << (8 * UInt32($1)) }
    }
    return (word(0), Int(word(4)))
  }
}
