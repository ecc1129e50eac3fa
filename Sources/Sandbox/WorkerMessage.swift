/// A message between a program and a sandboxed process: its kind and its bytes.
///
/// On the wire: kind and length, 4 bytes each, little-endian, then the bytes. Each side bounds the length by its own
/// expectation: neither trusts the other's number.
package struct WorkerMessage: Sendable {
  /// A kind on which both sides agree; this module gives it no meaning.
  package let kind: UInt32
  package let bytes: [UInt8]
  /// Received descriptors, which the receiver must close. Those of a sandboxed process are never accepted.
  package let files: [Int32]

  package init(kind: UInt32, bytes: [UInt8], files: [Int32] = []) {
    self.kind = kind
    self.bytes = bytes
    self.files = files
  }

  /// The default maximum size of a message in bytes.
  package static let maxLength = 16 << 20

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
