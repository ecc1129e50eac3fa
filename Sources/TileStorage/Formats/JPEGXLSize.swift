/// The size of a JPEG XL according to the first bits of its codestream, bare or in a container. Nothing is decoded.
///
/// The size header is that of ISO/IEC 18181-1, the boxes those of 18181-2.
struct JPEGXLSize: Hashable {
  let width: Int
  let height: Int

  /// The maximum length of the signature's two bytes and a size header.
  private static let maxLength = 11

  /// Reads the size in pixels; nil if the bytes have no size header.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let start = Self.isContainer(bytes) ? Self.codestream(in: bytes) : Array(bytes.prefix(Self.maxLength))
    guard start.starts(with: [0xff, 0x0a]) else { return nil }
    var reader = BitReader(start.dropFirst(2))
    guard let isSmall = reader.next(1), let height = reader.side(isSmall: isSmall == 1),
      let ratio = reader.next(3)
    else { return nil }
    self.height = height
    // The ratio of width to height, if the width is not stated: 1:1, 6:5, 4:3, 3:2, 16:9, 5:4, 2:1.
    let ratios = [(1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
    if ratio > 0 {
      width = height * ratios[ratio - 1].0 / ratios[ratio - 1].1
    } else {
      guard let width = reader.side(isSmall: isSmall == 1) else { return nil }
      self.width = width
    }
  }

  private static func isContainer(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.starts(with: [0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a])
  }

  /// Returns the first bytes of the codestream, which is in one box `jxlc` or in parts in boxes `jxlp`.
  private static func codestream(in bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var found: [UInt8] = []
    var rest = bytes[...]
    while rest.count >= 8, found.count < maxLength {
      func number(_ at: Int, _ count: Int) -> UInt64 {
        rest.dropFirst(at).prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
      }
      let isLong = number(0, 4) == 1
      let header = isLong ? 16 : 8
      // 0 means that the box extends to the end.
      let stated = isLong ? number(8, 8) : number(0, 4)
      guard rest.count >= header, stated == 0 || stated >= header, stated <= rest.count else { return [] }
      let content = rest.prefix(stated == 0 ? rest.count : Int(stated)).dropFirst(header)
      switch number(4, 4) {
      case 0x6a78_6c63: return Array(content.prefix(maxLength))
      // Behind the part's number.
      case 0x6a78_6c70: found += content.dropFirst(4).prefix(maxLength - found.count)
      default: break
      }
      rest = rest.dropFirst(header + content.count)
    }
    return found
  }
}

/// Numbers of a few bits, the lowest first.
private struct BitReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  mutating func next(_ count: Int) -> Int? {
    guard at + count <= bytes.count * 8 else { return nil }
    var number = 0
    for bit in 0..<count {
      number |= Int(bytes[(at + bit) / 8] >> ((at + bit) % 8) & 1) << bit
    }
    at += count
    return number
  }

  /// Reads the length of a side, of an image whose sides are multiples of 8 up to 256, or of any image.
  mutating func side(isSmall: Bool) -> Int? {
    if isSmall { return next(5).map { ($0 + 1) * 8 } }
    guard let choice = next(2) else { return nil }
    return next([9, 13, 18, 30][choice]).map { $0 + 1 }
  }
}
