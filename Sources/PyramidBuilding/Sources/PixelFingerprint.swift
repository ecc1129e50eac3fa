import Glibc
import TileStorage
import ZigguratCISAL
import ZigguratCXXHash
import ZigguratFiles

/// The parts of a file that its pixels are made of, and the other data that decide their look. A file in which only
/// metadata has changed has the same. It covers JPEG, PNG and TIFF, and no file that is built in an unusual way.
struct PixelFingerprint {
  /// Sorted, apart from each other.
  private(set) var kept: [Range<Int>] = []
  /// The rest that counts, in a form that does not depend on its place.
  private(set) var further: [UInt8] = []

  /// The maximum number of parts; no ordinary picture has more.
  static let maxParts = 1 << 21

  init?(_ file: SourceFile) {
    let reader = file.reader
    guard let start = reader.bytes(0, 8) else { return nil }
    switch (start[0], start[1], start[2], start[3]) {
    case (0xff, 0xd8, 0xff, _): guard readJPEG(reader) else { return nil }
    case (0x89, 0x50, 0x4e, 0x47): guard readPNG(reader) else { return nil }
    case (0x49, 0x49, 42, 0), (0x4d, 0x4d, 0, 42): guard readTIFF(reader) else { return nil }
    default: return nil
    }
  }

  private mutating func keep(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    if let last = kept.last, last.upperBound == range.lowerBound {
      kept[kept.count - 1] = last.lowerBound..<range.upperBound
    } else {
      kept.append(range)
    }
  }

  /// Reads the segments before the first scan (ITU-T T.81, annex B); all data after it are kept.
  private mutating func readJPEG(_ reader: PositionalReader) -> Bool {
    keep(0..<2)
    var at = 2
    for _ in 0..<Self.maxParts {
      guard let head = reader.bytes(at, 4), head[0] == 0xff, head[1] >= 0xc0, !(0xd0...0xd9 ~= head[1])
      else { return false }
      if head[1] == 0xda {
        keep(at..<reader.size)
        return true
      }
      let length = Int(head[2]) << 8 | Int(head[3])
      guard length >= 2, let body = reader.bytes(at + 4, length - 2) else { return false }
      switch head[1] {
      case 0xfe: break
      case 0xe1 where Self.begins(body, "http://ns.adobe.com/"): break
      case 0xed where Self.begins(body, "Photoshop 3.0\0"): break
      case 0xe1 where Self.begins(body, "Exif\0\0"):
        guard let facts = TIFFPixelFingerprint(exif: Array(body.dropFirst(6))) else { return false }
        further += facts.encoded
      default: keep(at..<at + 2 + length)
      }
      at += 2 + length
    }
    return false
  }

  /// Chunks (PNG 1.2, section 3).
  private mutating func readPNG(_ reader: PositionalReader) -> Bool {
    keep(0..<8)
    var at = 8
    for _ in 0..<Self.maxParts {
      guard let head = PNGChunkHead(reader, at: at) else { return false }
      let length = head.length
      guard length < 1 << 31, at + 12 + length <= reader.size else { return false }
      let isText: Bool
      switch head.name {
      case PNGChunk.time: isText = true
      case PNGChunk.text, PNGChunk.compressedText, PNGChunk.internationalText:
        guard let start = reader.bytes(at + 8, min(length, 40)) else { return false }
        isText = Self.textKeywords.contains { Self.begins(start, $0 + "\0") }
      case PNGChunk.exif:
        guard length < 1 << 24, let body = reader.bytes(at + 8, length),
          let facts = TIFFPixelFingerprint(exif: body)
        else { return false }
        further += facts.encoded
        isText = true
      case PNGChunk.end:
        keep(at..<reader.size)
        return true
      case PNGChunk.data:
        let last = head.lastAlike(reader, from: at)
        keep(at..<last)
        at = last
        guard at + 12 + length <= reader.size else { return false }
        isText = false
      default: isText = false
      }
      if isText {
        // A damaged one is reported in the archive's record.
        guard length < 1 << 24, Self.isWhole(reader.bytes(at + 4, length + 8)) else { return false }
      } else {
        keep(at..<at + 12 + length)
      }
      at += 12 + length
    }
    return false
  }

  /// Whether a chunk's checksum is right.
  /// - Parameter chunk: its name, data and checksum.
  private static func isWhole(_ chunk: [UInt8]?) -> Bool {
    guard let chunk, chunk.count >= 8 else { return false }
    let checksum = chunk.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    return chunk.withUnsafeBufferPointer {
      crc32_gzip_refl(0, $0.baseAddress, UInt64(chunk.count - 4)) == checksum
    }
  }

  /// Keywords of PNG's texts that say nothing of pixels.
  private static let textKeywords = [
    "XML:com.adobe.xmp", "Title", "Author", "Description", "Copyright", "Creation Time", "Software",
    "Comment", "Source", "Disclaimer", "Warning",
  ]

  /// Reads the data of all its pictures, at any position, and the values of its directories.
  private mutating func readTIFF(_ reader: PositionalReader) -> Bool {
    guard let facts = TIFFPixelFingerprint(reader) else { return false }
    further = facts.encoded
    var end = 0
    for range in facts.data.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      guard range.lowerBound >= end, range.upperBound <= reader.size else { return false }
      end = range.upperBound
      keep(range)
    }
    return true
  }

  private static func begins(_ bytes: [UInt8], _ text: String) -> Bool { bytes.starts(with: text.utf8) }
}
