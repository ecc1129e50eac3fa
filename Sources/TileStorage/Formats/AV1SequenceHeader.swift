/// The frame sizes in AV1 data (AV1 Bitstream & Decoding Process Specification, 5.3 to 5.5): no frame is larger than
/// its sequence.
enum AV1SequenceHeader {
  /// Returns the sizes in pixels of every sequence header in `data`; nil if the data is damaged.
  static func sizes(in data: Slice<UnsafeRawBufferPointer>) -> [(width: Int, height: Int)]? {
    var sizes: [(width: Int, height: Int)] = []
    var rest = data
    while let header = rest.popFirst() {
      guard header & 0x80 == 0 else { return nil }
      if header & 4 != 0, rest.popFirst() == nil { return nil }
      // The last unit may omit its size.
      var size = rest.count
      if header & 2 != 0 {
        guard let stated = unsigned(&rest) else { return nil }
        size = stated
      }
      guard size <= rest.count else { return nil }
      if header >> 3 & 15 == 1 {
        var bits = Bits(bytes: rest.prefix(size))
        guard let found = Self.size(&bits) else { return nil }
        sizes.append(found)
      }
      rest = rest.dropFirst(size)
    }
    return sizes
  }

  /// Reads `leb128()`: seven bits a byte, the lowest first.
  private static func unsigned(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int? {
    var value = 0
    for shift in stride(from: 0, to: 56, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      value |= Int(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }

  /// Reads `sequence_header_obu()` up to the size.
  private static func size(_ bits: inout Bits) -> (width: Int, height: Int)? {
    bits.skip(3 + 1)
    if bits.flag() {
      bits.skip(5)
    } else {
      skipOperatingPoints(&bits)
    }
    let (widthBits, heightBits) = (bits.next(4) + 1, bits.next(4) + 1)
    let size = (width: bits.next(widthBits) + 1, height: bits.next(heightBits) + 1)
    return bits.isShort ? nil : size
  }

  private static func skipOperatingPoints(_ bits: inout Bits) {
    var delayBits = 0
    if bits.flag() {
      bits.skip(32 + 32)
      if bits.flag() { bits.skipVariable() }
      if bits.flag() {
        delayBits = bits.next(5) + 1
        bits.skip(32 + 5 + 5)
      }
    }
    let hasDelay = bits.flag()
    for _ in 0...bits.next(5) {
      bits.skip(12)
      if bits.next(5) > 7 { bits.skip(1) }
      if delayBits > 0, bits.flag() { bits.skip(2 * delayBits + 1) }
      if hasDelay, bits.flag() { bits.skip(4) }
    }
  }

  /// A reader of bits, the highest of a byte first; zeros behind the last.
  private struct Bits {
    let bytes: Slice<UnsafeRawBufferPointer>
    private var at = 0

    init(bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = bytes }

    /// Whether more was read than the data has.
    var isShort: Bool { at > 8 * bytes.count }

    mutating func flag() -> Bool { next(1) == 1 }

    mutating func next(_ count: Int) -> Int {
      var value = 0
      for _ in 0..<count {
        let byte = at >> 3 < bytes.count ? bytes[bytes.startIndex + at >> 3] : 0
        value = value << 1 | Int(byte >> (7 - at & 7) & 1)
        at += 1
      }
      return value
    }

    mutating func skip(_ count: Int) { at += count }

    /// Skips `uvlc()`: as many bits as there are zeros before the first one.
    mutating func skipVariable() {
      var zeros = 0
      while !isShort, !flag() { zeros += 1 }
      if zeros < 32 { skip(zeros) }
    }
  }
}
