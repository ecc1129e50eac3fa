import Foundation
import ZigguratCSodium

/// A password as it was typed, in locked memory.
package struct Password: Sendable {
  let secret: LockedBytes

  /// The maximum length in bytes of UTF-8.
  package static let maxLength = 1024

  /// Room for the longest password and for the line break that shows that it ends.
  private static let room = maxLength + 2

  /// - Parameter fill: writes into locked memory and returns the number of bytes. A line break at the end is ignored.
  package init(
    reading fill: (UnsafeMutableRawBufferPointer) throws(SpaceError) -> Int
  ) throws(SpaceError) {
    let typed = try LockedBytes(capacity: Self.room) { (room) throws(SpaceError) in
      var count = try fill(room)
      if count > 0, room[count - 1] == UInt8(ascii: "\n") { count -= 1 }
      if count > 0, room[count - 1] == UInt8(ascii: "\r") { count -= 1 }
      guard count > 0 else { throw .unusablePassword("it is empty") }
      guard count <= Self.maxLength else {
        throw .unusablePassword("it is longer than \(Self.maxLength) bytes")
      }
      guard !room[..<count].contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
        throw .unusablePassword("it has control characters or more than one line")
      }
      return count
    }
    if typed.bytes.allSatisfy({ $0 < 0x80 }) {
      secret = typed
      return
    }
    // Keyboards produce the same letters composed or decomposed (RFC 8265, section 4).
    guard let text = String(validating: typed.bytes, as: UTF8.self) else {
      throw .unusablePassword("it is not UTF-8")
    }
    var composed = text.precomposedStringWithCanonicalMapping
    secret = composed.withUTF8 { utf8 in
      LockedBytes(capacity: utf8.count) { (room) throws(Never) in
        room.copyMemory(from: UnsafeRawBufferPointer(utf8))
        return utf8.count
      }
    }
  }

  /// Creates a password from text that is in memory already, such as that of a form.
  package init(_ text: String) throws(SpaceError) {
    guard text.utf8.count <= Self.maxLength else {
      throw .unusablePassword("it is longer than \(Self.maxLength) bytes")
    }
    try self.init { (room) throws(SpaceError) in
      var count = 0
      for byte in text.utf8 {
        room[count] = byte
        count += 1
      }
      return count
    }
  }

  /// Whether an attacker with the files could find the password by brute force.
  package var isShort: Bool { secret.bytes.count < 12 }

  package static func == (a: Password, b: Password) -> Bool { a.secret == b.secret }
}
