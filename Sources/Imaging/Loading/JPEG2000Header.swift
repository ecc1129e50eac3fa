import Glibc

/// The parts of a JPEG 2000 file's header that libvips passes over (ITU-T T.800, annexes A and I).
package struct JPEG2000Header: Sendable {
  /// Whether colours are multiplied by alpha: a channel of type 2 in the channel definition box (I.5.3.6).
  package private(set) var isPremultiplied = false
  /// The enumerated colour space (I.5.3.3): 16 is sRGB, 17 gray, 18 sYCC; nil if there is none.
  private(set) var colourSpace: Int?
  /// The embedded ICC profile.
  private(set) var profile: [UInt8]?
  /// Bits of each column of the palette (I.5.3.4); nil if there is no palette.
  private(set) var palette: [Int]?
  /// The image and tile size of the codestream (A.5.1); nil if it is not in the file.
  private(set) var size: Size?

  struct Size {
    let width, height: Int
    /// Whether the image does not begin at the reference grid's origin.
    let hasOffset: Bool
    /// Bits of each component.
    let bits: [Int]
    /// Whether a component has fewer samples than the image has pixels.
    let isSubsampled: Bool
  }

  /// Bytes in which the header is looked for.
  private static let longest = 1 << 16

  /// Whether libvips 8.14 returns the picture's pixels: it ends the process at a palette, takes sYCC without subsampling
  /// for RGB, and leaves pixels undefined if the image has an offset.
  package var isReadByLibvips: Bool {
    guard let size else { return true }
    return palette == nil && !size.hasOffset && (colourSpace != Self.sYCC || size.isSubsampled)
  }

  static let sYCC = 18

  /// `nil` if the file is no JPEG 2000.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    func read(_ place: Int, _ count: Int) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
        done = max(0, pread(descriptor, buffer.baseAddress, buffer.count, place))
      }
    }
    let start = read(0, 12)
    if start.starts(with: [0xff, 0x4f]) {
      size = Size(read(0, Self.longest)[...])
      return
    }
    guard start.dropFirst(4).starts(with: "jP  ".utf8) else { return nil }
    var place = 0
    for _ in 0..<1000 {
      let head = read(place, 16)
      guard head.count >= 8 else { return }
      let length = Self.number(head[..<4])
      switch String(decoding: head[4..<8], as: UTF8.self) {
      case "jp2h": readHeader(read(place + 8, min(max(length - 8, 0), Self.longest))[...])
      case "jp2c":
        size = Size(read(place + (length == 1 ? 16 : 8), Self.longest)[...])
        return
      default: break
      }
      // Boxes of 64-bit sizes are none in front of a codestream.
      guard length >= 8 else { return }
      place += length
    }
  }

  private mutating func readHeader(_ header: ArraySlice<UInt8>) {
    if let definitions = Self.box("cdef", in: header) {
      // After their number six bytes each: the channel, its type, and with what it is associated.
      let types = stride(from: definitions.startIndex + 4, to: definitions.endIndex - 1, by: 6)
      isPremultiplied = types.contains { definitions[$0] == 0 && definitions[$0 + 1] == 2 }
    }
    if let colours = Self.box("colr", in: header), colours.count >= 3 {
      let values = colours.dropFirst(3)
      if colours.first == 1, values.count >= 4 { colourSpace = Self.number(values.prefix(4)) }
      if colours.first == 2 { profile = Array(values) }
    }
    if let table = Self.box("pclr", in: header), table.count >= 3 {
      let columns = Int(table[table.startIndex + 2])
      palette = table.dropFirst(3).prefix(columns).map { Int($0 & 0x7f) + 1 }
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  /// Returns the contents of the first box of that name, as far as they are there.
  private static func box(_ name: String, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var at = bytes.startIndex
    while at + 8 <= bytes.endIndex {
      let size = number(bytes[at..<at + 4])
      // Boxes of 64-bit sizes are none of a header's.
      guard size >= 8 else { return nil }
      let end = min(at + size, bytes.endIndex)
      if bytes[at + 4..<at + 8].elementsEqual(name.utf8) { return bytes[at + 8..<end] }
      at += size
    }
    return nil
  }
}

extension JPEG2000Header.Size {
  /// - Parameter codestream: its first bytes.
  fileprivate init?(_ codestream: ArraySlice<UInt8>) {
    let bytes = Array(codestream)
    guard bytes.count >= 42, bytes.starts(with: [0xff, 0x4f, 0xff, 0x51]) else { return nil }
    func number(_ at: Int, _ count: Int) -> Int { bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) } }
    let (left, top, count) = (number(16, 4), number(20, 4), number(40, 2))
    (width, height) = (number(8, 4) - left, number(12, 4) - top)
    guard width > 0, height > 0, count > 0, bytes.count >= 42 + 3 * count else { return nil }
    hasOffset = left > 0 || top > 0
    let components = (0..<count).map { bytes[(42 + 3 * $0)..<(45 + 3 * $0)] }
    bits = components.map { Int($0[$0.startIndex] & 0x7f) + 1 }
    isSubsampled = components.contains { $0[$0.startIndex + 1] != 1 || $0[$0.startIndex + 2] != 1 }
  }
}
