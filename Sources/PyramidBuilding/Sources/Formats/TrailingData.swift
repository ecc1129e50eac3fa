import TileStorage
import ZigguratFiles

/// The end of a file's picture by its format. No decoder reads data after it: a second picture, a video, an archive.
enum TrailingData {
  /// Bytes behind the end that are reported, whatever they are. Phones append some hundred bytes about the photograph.
  private static let fewestBytes = 1024

  /// Whether a file has data after its picture that are not padding: they begin like a known format, or are large.
  ///
  /// - Parameters:
  ///   - loader: libvips' name of its loader.
  ///   - known: positions of further pictures that the file lists, and that are checked separately.
  static func isBeforeData(_ file: SourceFile, _ loader: String?, known: [Range<Int>] = []) -> Bool {
    guard let end = place(file, loader) else { return false }
    var start = end
    for range in known.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > start {
      if range.lowerBound > start, isData(start..<min(range.lowerBound, file.identity.size), file) {
        return true
      }
      start = range.upperBound
    }
    return start < file.identity.size && isData(start..<file.identity.size, file)
  }

  private static func isData(_ range: Range<Int>, _ file: SourceFile) -> Bool {
    var place = range.lowerBound
    // The first byte that is no padding, and the last.
    while place < range.upperBound {
      guard let bytes = file.bytes(place, min(1 << 16, range.upperBound - place)) else { return false }
      guard let first = bytes.firstIndex(where: { !isPadding($0) }) else {
        place += bytes.count
        continue
      }
      let start = place + first
      // Some formats begin with bytes that are padding elsewhere.
      let early = max(range.lowerBound, start - 3)
      let length = range.upperBound - start
      guard let begin = file.bytes(early, min(start - early + length, 256)),
        let tail = file.bytes(range.upperBound - min(length, 1 << 16), min(length, 1 << 16))
      else { return false }
      let padding = tail.reversed().prefix(while: isPadding).count
      return length - padding >= fewestBytes
        || (early...start).contains { isKnown(begin.dropFirst($0 - early)) }
    }
    return false
  }

  private static func isPadding(_ byte: UInt8) -> Bool {
    [0, 0xff, 0x20, 0x0a, 0x0d, 0x09, 0x1a].contains(byte)
  }

  /// Whether bytes begin as a picture, video, sound, document or archive does.
  private static func isKnown(_ bytes: ArraySlice<UInt8>) -> Bool {
    if ImageFormat(start: bytes) != nil || bytes.dropFirst(4).starts(with: "ftyp".utf8) { return true }
    let starts = ["PK\u{3}\u{4}", "RIFF", "%PDF", "8BPS", "OggS", "ID3", "Rar!"].map { Array($0.utf8) }
    // Matroska and 7-Zip have no letters.
    return (starts + [[0x1a, 0x45, 0xdf, 0xa3], [0x37, 0x7a, 0xbc, 0xaf]]).contains { bytes.starts(with: $0) }
  }

  /// Returns the place; nil if the file does not reach it, or its format has none.
  private static func place(_ file: SourceFile, _ loader: String?) -> Int? {
    switch loader {
    case "jpegload": jpeg(file)
    case "pngload":
      withExtendedLifetime(file.handle) { PNGTail(file.reader).end }
    case "webpload": webp(file)
    case "gifload": GIFHeader(file)?.end
    case "heifload", "jxlload", "jp2kload": boxes(file)
    default: nil
    }
  }

  /// Returns the place behind the end marker (ITU-T T.81, annex B); nil before any scan.
  private static func jpeg(_ file: SourceFile) -> Int? {
    var at = 2
    var hasScan = false
    while let head = file.bytes(at, 2) {
      guard head[0] == 0xff else {
        // Decoders look for the next marker, too.
        guard let marker = markerBehindScan(file, at) else { return nil }
        at = marker
        continue
      }
      switch head[1] {
      case 0xff: at += 1
      case 0xd9: return hasScan ? at + 2 : nil
      // Without its end marker, before another picture.
      case 0xd8: return hasScan ? at : nil
      case 0x00, 0x01, 0xd0...0xd7: at += 2
      default:
        guard let size = file.bytes(at + 2, 2) else { return nil }
        at += 2 + Int(size[0]) << 8 + Int(size[1])
        if head[1] == 0xda {
          hasScan = true
          guard let marker = markerBehindScan(file, at) else { return nil }
          at = marker
        }
      }
    }
    return nil
  }

  /// Returns where the first marker behind entropy-coded data begins.
  private static func markerBehindScan(_ file: SourceFile, _ start: Int) -> Int? {
    var place = start
    while place < file.identity.size - 1 {
      let bytes = file.bytes(from: place, atMost: 1 << 20)
      if bytes.isEmpty { return nil }
      var at = 0
      while let next = bytes[at..<(bytes.count - 1)].firstIndex(of: 0xff) {
        let code = bytes[next + 1]
        if code != 0, code != 0xff, !(0xd0...0xd7 ~= code) { return place + next }
        at = next + 1
      }
      // The last byte may be the first of a marker.
      place += bytes.count - 1
    }
    return nil
  }

  /// Returns the length of the RIFF file, with its padding (RFC 9649, section 2.3).
  private static func webp(_ file: SourceFile) -> Int? {
    file.bytes(4, 4).map { size in
      let length = ByteOrder.little.number(size)
      return 8 + length + length % 2
    }
  }

  /// Returns the end of the boxes of an ISO base media file (ISO/IEC 14496-12, section 4.2). They end before data that
  /// are not a box, or that begin another file.
  private static func boxes(_ file: SourceFile) -> Int? {
    guard let head = file.bytes(0, 8), head[0] == 0 else { return nil }
    var at = 0
    while let head = file.bytes(at, 8) {
      let kind = head[4...]
      let isBox = kind.allSatisfy { 0x20...0x7e ~= $0 || $0 == 0xa9 }
      if !isBox || at > 32 && kind.elementsEqual("ftyp".utf8) { return at == 0 ? nil : at }
      var length = ByteOrder.big.number(head.prefix(4))
      if length == 1, let long = file.bytes(at + 8, 8) { length = ByteOrder.big.number(long) }
      if length == 0 { return file.identity.size }
      guard length >= 8, length <= file.identity.size - at else { return at == 0 ? nil : at }
      at += length
    }
    return at
  }
}
