import Glibc
import TileStorage
import ZigguratCISAL
import ZigguratFiles

/// Reads a PNG file's chunks from first to last, and checks their checksums (PNG 5.3).
final class PNGChunkReader {
  /// The name of the current chunk.
  private(set) var name: UInt32 = 0
  /// The number of its bytes that have not been read.
  private(set) var remaining = 0
  let fileSize: Int
  /// Defects of chunks that are read nevertheless.
  let log = DamageLog()
  /// Whether the file has ended before the chunk did.
  private(set) var hasEnded = false
  private let subject: String
  private let file: ReadableFile
  private let buffer: UnsafeMutablePointer<UInt8>
  private var position = 0
  private var end = 0
  private var crc: UInt32 = 0
  /// Whether the checksum of the chunk has been read.
  private var isFinished = true

  private static let bufferSize = 1 << 18

  /// Opens the file and reads its signature.
  init(path: String) throws(BuildError) {
    subject = path
    guard let file = ReadableFile(path: path) else {
      throw BuildError(path, String(cString: strerror(errno)))
    }
    self.file = file
    fileSize = file.size
    buffer = .allocate(capacity: Self.bufferSize)
    guard try word() == 0x8950_4e47, try word() == 0x0d0a_1a0a else { throw refused("has no PNG signature") }
  }

  deinit { buffer.deallocate() }

  /// A reader of parts of the file, valid as long as this object.
  var placedReader: PositionalReader { PositionalReader(descriptor: file.descriptor, size: fileSize) }

  func refused(_ reason: String) -> BuildError { BuildError(subject, reason) }

  /// Moves to the next chunk and returns its name; skips the rest of the present one.
  @discardableResult
  func next() throws(BuildError) -> UInt32 {
    try finish()
    let length = try word()
    guard length <= 0x7fff_ffff else { throw refused("a chunk says that it is \(length) bytes long") }
    crc = 0
    name = try word()
    guard isName else { throw refused("a chunk has no name, but the bytes \(String(name, radix: 16))") }
    remaining = Int(length)
    isFinished = false
    return name
  }

  /// Reads the rest of the chunk, and its checksum.
  ///
  /// - Returns: whether the checksum matches, for ancillary chunks (PNG, third edition, 13.1) and for pixel data, which
  ///   may be complete nevertheless.
  @discardableResult
  func finish() throws(BuildError) -> Bool {
    guard !isFinished else { return true }
    while remaining > 0 { _ = try part() }
    let found = crc
    isFinished = true
    if try word() == found { return true }
    let reason = "the checksum of its \(nameText) chunk does not match"
    switch name {
    case PNGChunk.data, PNGChunk.palette: log.add(.error, reason)
    case PNGChunk.end: log.add(.warning, reason)
    case _ where isAncillary: log.add(.warning, reason + ", and it is ignored")
    default: throw refused(reason)
    }
    return false
  }

  /// Returns the contents of an ancillary chunk; nil if its checksum does not match, or it is too long.
  func ancillary(atMost limit: Int) throws(BuildError) -> [UInt8]? {
    guard remaining <= limit else {
      log.add(.warning, "its \(nameText) chunk is \(remaining) bytes long, at most \(limit) are allowed")
      try finish()
      return nil
    }
    let bytes = try rest(atMost: limit)
    return try finish() ? bytes : nil
  }

  /// Whether an image is usable without the chunk (PNG, third edition, 5.4).
  private var isAncillary: Bool { name >> 24 & 0x20 != 0 }

  /// Whether the name has four letters, as every chunk's.
  private var isName: Bool {
    (0..<4).allSatisfy { index in
      let byte = UInt8(truncatingIfNeeded: name >> (8 * index)) | 0x20
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
  }

  /// Returns the next bytes of the chunk, valid until the next call. There is at least one byte, except at its end.
  func part() throws(BuildError) -> UnsafeMutableBufferPointer<UInt8> {
    guard remaining > 0 else { return UnsafeMutableBufferPointer(start: buffer, count: 0) }
    if position == end { try fill() }
    let count = min(remaining, end - position)
    let bytes = UnsafeMutableBufferPointer(start: buffer + position, count: count)
    crc = crc32_gzip_refl(crc, bytes.baseAddress, UInt64(count))
    position += count
    remaining -= count
    return bytes
  }

  /// Returns the rest of a short chunk.
  func rest(atMost limit: Int) throws(BuildError) -> [UInt8] {
    guard remaining <= limit else {
      throw refused("its \(nameText) chunk is \(remaining) bytes long, at most \(limit) are allowed")
    }
    var bytes: [UInt8] = []
    while remaining > 0 { bytes += try part() }
    return bytes
  }

  private var nameText: String {
    String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: name >> (24 - 8 * $0)) }, as: UTF8.self)
  }

  /// Reads four bytes, big-endian. They count for the checksum of the next chunk.
  private func word() throws(BuildError) -> UInt32 {
    var value: UInt32 = 0
    if end - position >= 4 {
      crc = crc32_gzip_refl(crc, buffer + position, 4)
      for byte in position..<position + 4 { value = value << 8 | UInt32(buffer[byte]) }
      position += 4
      return value
    }
    for _ in 0..<4 {
      if position == end { try fill() }
      crc = crc32_gzip_refl(crc, buffer + position, 1)
      value = value << 8 | UInt32(buffer[position])
      position += 1
    }
    return value
  }

  private func fill() throws(BuildError) {
    var count = 0
    repeat { count = read(file.descriptor, buffer, Self.bufferSize) } while count < 0 && errno == EINTR
    guard count >= 0 else { throw refused(String(cString: strerror(errno))) }
    guard count > 0 else {
      hasEnded = true
      throw refused("the file ends early")
    }
    position = 0
    end = count
  }
}

/// Names of chunks as numbers.
enum PNGChunk {
  static let header: UInt32 = 0x4948_4452  // IHDR
  static let data: UInt32 = 0x4944_4154  // IDAT
  static let end: UInt32 = 0x4945_4e44  // IEND
  static let palette: UInt32 = 0x504c_5445  // PLTE
  static let animation: UInt32 = 0x6163_544c  // acTL
  static let transparency: UInt32 = 0x7452_4e53  // tRNS
  static let gamma: UInt32 = 0x6741_4d41  // gAMA
  static let chromaticities: UInt32 = 0x6348_524d  // cHRM
  static let standardRGB: UInt32 = 0x7352_4742  // sRGB
  static let profile: UInt32 = 0x6943_4350  // iCCP
  static let codePoints: UInt32 = 0x6349_4350  // cICP
  static let exif: UInt32 = 0x6558_4966  // eXIf
  static let time: UInt32 = 0x7449_4d45  // tIME
  static let text: UInt32 = 0x7445_5874  // tEXt
  static let compressedText: UInt32 = 0x7a54_5874  // zTXt
  static let internationalText: UInt32 = 0x6954_5874  // iTXt

  /// Returns a complete chunk.
  static func bytes(_ name: UInt32, _ body: [UInt8]) -> [UInt8] {
    let named = ByteOrder.big.bytes(Int(name), 4) + body
    return ByteOrder.big.bytes(body.count, 4) + named
      + ByteOrder.big.bytes(Int(named.withUnsafeBytes { checksum($0) }), 4)
  }
}
