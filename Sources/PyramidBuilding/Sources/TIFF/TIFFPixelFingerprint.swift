import ZigguratFiles
import ZigguratMetadata

/// The contents of a TIFF file's directories (TIFF 6.0, section 2), or of EXIF, without metadata and without their
/// places.
struct TIFFPixelFingerprint {
  private(set) var encoded: [UInt8] = []
  /// The pictures' data.
  private(set) var data: [Range<Int>] = []
  private let bytes: (Int, Int) -> [UInt8]?
  private let order: ByteOrder
  private var directories = 0
  /// The remaining maximum number of fields, and of bytes of their values. The memory of the building process holds
  /// them several times, not that of a sandboxed process. The offsets and lengths of a million tiles take 8 MB.
  private var (fieldsLeft, bytesLeft) = (1 << 18, 16 << 20)

  /// Reads the directories of a TIFF file.
  init?(_ reader: PositionalReader) { self.init(isFile: true) { reader.bytes($0, $1) } }

  /// Reads the directories of EXIF, behind `Exif\0\0`.
  init?(exif body: [UInt8]) {
    self.init(isFile: false) { offset, count in
      guard offset >= 0, count >= 0, count <= body.count, offset <= body.count - count else { return nil }
      return Array(body[offset..<offset + count])
    }
  }

  private init?(isFile: Bool, _ bytes: @escaping (Int, Int) -> [UInt8]?) {
    self.bytes = bytes
    guard let head = bytes(0, 8), let order = TIFFEntry.order(head), order.number(head, at: 2, 2) == 42 else {
      return nil
    }
    self.order = order
    encoded.append(head[0])
    var next = order.number(head, at: 4, 4)
    // Of EXIF the second directory is a thumbnail's.
    repeat {
      guard let following = read(next, .picture) else { return nil }
      next = following
    } while next != 0 && isFile
    // Which picture has which data, in the order in which it lies.
    for index in data.indices.sorted(by: { data[$0].lowerBound < data[$1].lowerBound }) { encode(index) }
  }

  private enum Kind: Int {
    case picture = 1
    case exif, interoperability
  }

  private mutating func encode(_ number: Int) {
    encoded += ByteOrder.little.bytes(number, 8)
  }

  private struct Field {
    let entry: TIFFEntry
    let value: [UInt8]
  }

  /// - Returns: the offset of the next directory; 0 if there is none, nil if the directory is unusual.
  private mutating func read(_ offset: Int, _ kind: Kind, depth: Int = 0) -> Int? {
    directories += 1
    guard directories < 10_000, depth < 4, let head = bytes(offset, 2) else { return nil }
    let count = order.number(head)
    fieldsLeft -= count
    guard fieldsLeft >= 0, let entries = bytes(offset + 2, 12 * count + 4) else { return nil }
    var fields: [Field] = []
    for entry in TIFFEntry.all(in: entries, order, isBig: false) {
      guard entry.type <= 13, let size = TIFFEntry.sizes[entry.type],
        entry.count <= PixelFingerprint.maxParts * 8
      else { return nil }
      if isText(entry.tag, kind) { continue }
      let length = size * entry.count
      bytesLeft -= length
      guard bytesLeft >= 0 else { return nil }
      let value =
        length <= 4 ? Array(entry.inline.prefix(length)) : bytes(order.number(entry.inline), length)
      guard let value else { return nil }
      // Builds may read a scale in text that a program wrote there, and even the format in a scanner's XMP.
      if entry.tag == 270, !MachineText.isSuspected(Self.text(value)) { continue }
      if entry.tag == 700, Self.text(value).contains("rdf:RDF") { continue }
      fields.append(Field(entry: entry, value: value))
    }
    encode(kind.rawValue)
    guard addData(fields) else { return nil }
    for field in fields {
      switch (field.entry.tag, kind) {
      case (273, .picture), (324, .picture): continue
      case (0x8769, .picture): guard follow(field, .exif, depth) else { return nil }
      case (0xa005, .exif): guard follow(field, .interoperability, depth) else { return nil }
      case (330, .picture): guard follow(field, .picture, depth) else { return nil }
      // Data that lies elsewhere: JPEG of TIFF's first manner, and strips that are free.
      case (513, .picture), (288, .picture): return nil
      default:
        for number in [field.entry.tag, field.entry.type, field.entry.count] { encode(number) }
        encoded += field.value
      }
    }
    return order.number(entries.suffix(4))
  }

  private static func text(_ value: [UInt8]) -> String {
    String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
  }

  private mutating func follow(_ field: Field, _ kind: Kind, _ depth: Int) -> Bool {
    guard let offsets = numbers(field) else { return false }
    encode(field.entry.tag)
    for offset in offsets { guard read(offset, kind, depth: depth + 1) != nil else { return false } }
    return true
  }

  private func numbers(_ field: Field) -> [Int]? {
    guard [3, 4, 13].contains(field.entry.type), let size = TIFFEntry.sizes[field.entry.type] else {
      return nil
    }
    return (0..<field.entry.count).map { order.number(field.value, at: $0 * size, size) }
  }

  private mutating func addData(_ fields: [Field]) -> Bool {
    for (places, lengths) in [(273, 279), (324, 325)] {
      guard let place = fields.first(where: { $0.entry.tag == places }) else { continue }
      guard let length = fields.first(where: { $0.entry.tag == lengths }), let starts = numbers(place),
        let counts = numbers(length), starts.count == counts.count,
        data.count + starts.count <= PixelFingerprint.maxParts
      else { return false }
      for (start, count) in zip(starts, counts) { data.append(start..<start + count) }
    }
    return true
  }

  /// Whether a tag has metadata: a statement about people, times, places and devices that says nothing of pixels.
  private func isText(_ tag: Int, _ kind: Kind) -> Bool {
    switch kind {
    case .picture:
      [
        0x010d, 0x011d, 0x0132, 0x013b, 0x4746, 0x4749, 0x83bb, 0x8298, 0x8649, 0x8825, 0x9c9b, 0x9c9c,
        0x9c9d, 0x9c9e, 0x9c9f, 0xea1c,
      ].contains(tag)
    case .exif:
      [
        0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x927c, 0x9286, 0x9290, 0x9291, 0x9292, 0xa420, 0xa430,
        0xa431, 0xa432, 0xa433, 0xa434, 0xa435, 0xea1c,
      ].contains(tag)
    case .interoperability: false
    }
  }
}
