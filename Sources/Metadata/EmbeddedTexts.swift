import Foundation
import Glibc
import TileStorage
import ZigguratCDeflate
import ZigguratFiles

/// Metadata in a picture's file that Exiv2 does not read: PNG's texts, the XMP of a GIF, and the second part of XMP
/// that was too long for one segment of a JPEG.
struct EmbeddedTexts {
  /// XMP packets, in order of precedence.
  private(set) var packets: [[UInt8]] = []
  /// PNG's texts by their keywords (PNG, third edition, section 11.3.3), with names such as `Png.Title`.
  private(set) var texts: [String: String] = [:]

  /// The maximum number of segments or chunks, and of blocks of a GIF, that are read.
  private static let (maxParts, maxBlocks) = (1 << 16, 1 << 18)
  /// The maximum size of a packet in bytes.
  private static let maxLength = InputLimit.sidecar.bytes
  /// The maximum size of a PNG text in bytes, and the maximum number of texts.
  private static let (maxTextLength, maxTexts) = (1 << 20, 1000)

  /// Reads the file; empty if it is of another format, or cannot be read.
  init(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return }
    let reader = PositionalReader(descriptor: descriptor, size: status.st_size)
    switch ImageFormat(start: reader.bytes(0, min(reader.size, ImageFormat.signatureBytes)) ?? []) {
    case .jpeg: readJPEG(reader)
    case .png: readPNG(reader)
    case .gif: readGIF(reader)
    default: break
    }
  }

  // MARK: JPEG

  private static let extendedXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

  /// Joins the parts of extended XMP (XMP specification, part 3, section 1.1.3.1).
  private mutating func readJPEG(_ reader: PositionalReader) {
    var parts: [String: (whole: Int, pieces: [Int: [UInt8]])] = [:]
    var at = 2
    for _ in 0..<Self.maxParts {
      guard let head = reader.bytes(at, 4), head[0] == 0xff, head[1] != 0xda, head[1] != 0xd9 else { break }
      let length = Int(head[2]) << 8 | Int(head[3])
      if head[1] == 0xe1, length > Self.extendedXMP.count + 42,
        reader.bytes(at + 4, Self.extendedXMP.count) == Self.extendedXMP,
        let body = reader.bytes(at + 4 + Self.extendedXMP.count, length - 2 - Self.extendedXMP.count)
      {
        let digest = String(decoding: body[..<32], as: UTF8.self)
        let (whole, offset) = (Self.number(body[32..<36]), Self.number(body[36..<40]))
        if whole <= Self.maxLength, offset <= whole, parts.count < 4 || parts[digest] != nil {
          parts[digest, default: (whole, [:])].pieces[offset] = Array(body[40...])
        }
      }
      at += 2 + max(length, 2)
    }
    for (_, part) in parts.sorted(by: { $0.key < $1.key }) {
      let packet = part.pieces.sorted { $0.key < $1.key }.reduce(into: [UInt8]()) { packet, piece in
        if piece.key == packet.count { packet += piece.value }
      }
      if packet.count == part.whole { packets.append(packet) }
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  // MARK: PNG

  private mutating func readPNG(_ reader: PositionalReader) {
    var at = 8
    for _ in 0..<Self.maxParts {
      guard let head = PNGChunkHead(reader, at: at), texts.count < Self.maxTexts else { return }
      let (length, kind) = (head.length, head.text)
      guard kind != "IEND", length < 1 << 31 else { return }
      if kind == "IDAT" { at = head.lastAlike(reader, from: at) }
      if ["tEXt", "zTXt", "iTXt"].contains(kind), length <= Self.maxTextLength,
        let body = reader.bytes(at + 8, length)
      {
        readText(kind, body)
      }
      at += 12 + length
    }
  }

  private mutating func readText(_ kind: String, _ body: [UInt8]) {
    guard let end = body.prefix(80).firstIndex(of: 0), end > 0 else { return }
    let keyword = String(decoding: body[..<end], as: UTF8.self)
    var rest = body[(end + 1)...]
    var isCompressed = false
    if kind == "zTXt" {
      // The text follows the compression method; there is only one method.
      isCompressed = true
      rest = rest.dropFirst()
    } else if kind == "iTXt" {
      isCompressed = rest.first == 1
      rest = rest.dropFirst(2)
      // A language, and the keyword in that language.
      for _ in 0..<2 { rest = rest.drop { $0 != 0 }.dropFirst() }
    }
    guard let bytes = isCompressed ? Self.inflated(rest) : Array(rest) else { return }
    // Latin-1 by the specification; programs write UTF-8, too.
    let text =
      String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    let trimmed = MetadataFile.trimmed(text)
    if !trimmed.isEmpty, texts["Png." + keyword] == nil { texts["Png." + keyword] = trimmed }
  }

  private static func inflated(_ data: ArraySlice<UInt8>) -> [UInt8]? {
    guard let inflater = libdeflate_alloc_decompressor() else { return nil }
    defer { libdeflate_free_decompressor(inflater) }
    var code = LIBDEFLATE_BAD_DATA
    let bytes = [UInt8](unsafeUninitializedCapacity: maxTextLength) { buffer, count in
      var done = 0
      code = data.withUnsafeBytes {
        libdeflate_zlib_decompress(
          inflater, $0.baseAddress, $0.count, buffer.baseAddress, buffer.count, &done)
      }
      count = code == LIBDEFLATE_SUCCESS ? done : 0
    }
    return code == LIBDEFLATE_SUCCESS ? bytes : nil
  }

  // MARK: GIF

  /// Finds the packet in its application extension. Behind it is a trailer of 258 bytes for readers of blocks (XMP
  /// specification, part 3, section 1.1.2).
  private mutating func readGIF(_ reader: PositionalReader) {
    guard let head = reader.bytes(0, 13) else { return }
    func table(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }
    var at = 13 + table(head[10])
    var blocks = 0
    while blocks < Self.maxBlocks, let start = reader.bytes(at, 2) {
      switch start[0] {
      case 0x21:
        if start[1] == 0xff, reader.bytes(at + 2, 12) == [11] + Array("XMP DataXMP".utf8) {
          readPacket(reader, at: at + 14)
          return
        }
        at += 2
      case 0x2c:
        guard let image = reader.bytes(at, 10) else { return }
        // Also skips the minimum code size.
        at += 11 + table(image[9])
      default: return
      }
      // Blocks, each preceded by its length.
      while blocks < Self.maxBlocks, let length = reader.bytes(at, 1)?[0] {
        at += 1 + Int(length)
        blocks += 1
        if length == 0 { break }
      }
    }
  }

  private mutating func readPacket(_ reader: PositionalReader, at start: Int) {
    guard let bytes = reader.bytes(start, min(reader.size - start, Self.maxLength)) else { return }
    // The trailer is 1, 255, 254, … 1, 0, 0; XMP contains none of its first bytes.
    guard let end = bytes.firstRange(of: [0x01, 0xff, 0xfe, 0xfd]) else { return }
    packets.append(Array(bytes[..<end.lowerBound]))
  }
}
