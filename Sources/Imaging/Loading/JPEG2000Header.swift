import Glibc

/// The boxes of a JPEG 2000 file that libvips passes over (ITU-T T.800, annex I).
package struct JPEG2000Header: Sendable {
  /// Whether colours are multiplied by alpha: a channel of type 2 in the channel definition box (I.5.3.6).
  package let isPremultiplied: Bool

  /// Bytes in which the header is looked for.
  private static let longest = 1 << 16

  /// `nil` if the file has no boxes, as a codestream by itself.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    guard let header = Self.box("jp2h", in: bytes[...]) else { return nil }
    guard let definitions = Self.box("cdef", in: header) else {
      isPremultiplied = false
      return
    }
    // After their number six bytes each: the channel, its type, and with what it is associated.
    let types = stride(from: definitions.startIndex + 4, to: definitions.endIndex - 1, by: 6)
    isPremultiplied = types.contains { definitions[$0] == 0 && definitions[$0 + 1] == 2 }
  }

  /// Returns the contents of the first box of that name, as far as they are there.
  private static func box(_ name: String, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var at = bytes.startIndex
    while at + 8 <= bytes.endIndex {
      let size = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      // Boxes of 64-bit sizes are none of a header's.
      guard size >= 8 else { return nil }
      let end = min(at + size, bytes.endIndex)
      if bytes[at + 4..<at + 8].elementsEqual(name.utf8) { return bytes[at + 8..<end] }
      at += size
    }
    return nil
  }
}
