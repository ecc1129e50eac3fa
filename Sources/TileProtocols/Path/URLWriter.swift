import TileStorage

/// A writer of a part of a URL straight to memory, for text that needs no escape.
package struct URLWriter {
  private let buffer: UnsafeMutableRawBufferPointer
  package private(set) var count = 0

  /// An upper bound of the length of a tile's name, in bytes.
  package static let maxNameLength = 256

  /// - Parameter buffer: with room for everything that will be written.
  package init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  /// The written bytes.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

  /// - Parameter room: bytes; an upper bound of the length.
  package static func string(room: Int = maxNameLength, _ write: (inout URLWriter) -> Void) -> String {
    String(unsafeUninitializedCapacity: room) { buffer in
      var text = URLWriter(UnsafeMutableRawBufferPointer(buffer))
      write(&text)
      return text.count
    }
  }

  package mutating func put(_ byte: UInt8) {
    precondition(count < buffer.count, "there is room for what is written")
    buffer[count] = byte
    count += 1
  }

  package mutating func put(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= buffer.count - count, "there is room for what is written")
    UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  // Inlined, so that a single mark is written as a byte.
  @inline(__always) package mutating func put(_ text: StaticString) {
    if text.utf8CodeUnitCount == 1 { return put(text.utf8Start[0]) }
    put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Writes the numbers that `PathReader.tile` reads, and the file name extension.
  /// - Parameter variant: before the point; empty for the usual tile.
  mutating func put(
    tile numbers: (Int, Int, Int), _ mark: UInt8, _ otherMark: UInt8, variant: StaticString = "",
    _ format: TileFormat
  ) {
    put(numbers.0)
    put(mark)
    put(numbers.1)
    put(otherMark)
    put(numbers.2)
    if variant.utf8CodeUnitCount > 0 { put(variant) }
    put(UInt8(ascii: "."))
    put(format.ending)
  }

  /// Writes a string. Its name differs from that for literals, which would become strings otherwise.
  package mutating func put(string text: String) {
    var text = text
    text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
  }

  /// - Parameter number: not negative.
  package mutating func put(_ number: Int) {
    var (digits, rest) = (1, number.magnitude)
    while rest > 9 {
      digits += 1
      rest /= 10
    }
    precondition(digits <= buffer.count - count, "there is room for what is written")
    count += digits
    rest = number.magnitude
    var at = count
    repeat {
      at -= 1
      buffer[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
  }
}
