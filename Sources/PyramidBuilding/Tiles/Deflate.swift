import Glibc
import ZigguratCDeflate
import ZigguratCISAL

/// zlib streams by ISA-L at level 1. Level 2 saves 0.6% of a photograph's filtered rows, for a tenth more of a build's
/// time.
///
/// Equal bytes give equal streams, which ISA-L alone does not guarantee. After the first byte, its assembly
/// (`write_first_byte` of igzip_icf_body_h1_gr_bt.asm, 2.30) files the third byte under a wrong hash. It hashes a
/// register's old content, the stream's address, instead of the bytes. Once in some 10,000 tiles, that entry replaces
/// one that gives a match. Therefore the stream is placed where the entry does not collide with those of the first
/// three bytes.
final class QuickDeflate {
  private let levelBuffer: UnsafeMutablePointer<UInt8>
  private let places: UnsafeMutableRawPointer
  private var isCleared = [Bool](repeating: false, count: placeCount)

  private static let level: UInt32 = 1
  // 4 KiB of histograms, 16 of hash table and 64 × 1024 tokens of 4 bytes. The header's ISAL_DEF_LVL1_LARGE is
  // arithmetic that Swift does not import; ISA-L refuses a buffer that is too small.
  private static let levelBufferSize = (4 + 16 + 4 * 64) * 1024
  /// The size of level 1's hash table, except for very few bytes.
  static let hashSize: UInt32 = 8 * 1024

  /// The number of places for a stream. Their addresses differ in bits 17 and 18, so that their hashes differ even in
  /// the smallest hash table. Each of the first three bytes can collide with one place.
  static let placeCount = 4
  /// The address counts in units of 64 KiB; a stream is larger.
  private static let placeSize = 128 * 1024

  init() {
    levelBuffer = .allocate(capacity: Self.levelBufferSize)
    let size = Self.placeCount * Self.placeSize
    places = .allocate(byteCount: size, alignment: size)
  }

  deinit {
    levelBuffer.deallocate()
    places.deallocate()
  }

  /// - Parameter capacity: the size of `data` in bytes.
  /// - Returns: the number of bytes written.
  func deflate(
    _ bytes: UnsafeMutablePointer<UInt8>, count: Int, to data: UnsafeMutablePointer<UInt8>, capacity: Int
  ) throws(BuildError) -> Int {
    let place = place(for: bytes, count: count)
    let stream = stream(at: place)
    if !isCleared[place] {
      // ISA-L's initialization does not set the window's size.
      memset(stream, 0, MemoryLayout<isal_zstream>.size)
      isCleared[place] = true
    }
    isal_deflate_stateless_init(stream)
    stream.pointee.level = Self.level
    stream.pointee.level_buf = levelBuffer
    stream.pointee.level_buf_size = UInt32(Self.levelBufferSize)
    stream.pointee.gzip_flag = UInt16(IGZIP_ZLIB)
    stream.pointee.end_of_stream = 1
    stream.pointee.flush = UInt16(NO_FLUSH)
    stream.pointee.next_in = bytes
    stream.pointee.avail_in = UInt32(count)
    stream.pointee.next_out = data
    stream.pointee.avail_out = UInt32(capacity)
    let code = isal_deflate_stateless(stream)
    guard code == COMP_OK else { throw BuildError("tile", "deflate failed with code \(code)") }
    return Int(stream.pointee.total_out)
  }

  private func stream(at place: Int) -> UnsafeMutablePointer<isal_zstream> {
    (places + place * Self.placeSize).bindMemory(to: isal_zstream.self, capacity: 1)
  }

  /// Returns the full hash under which a stream in this place files the third byte.
  func met(at place: Int) -> UInt32 {
    Self.hash(UInt32(truncatingIfNeeded: Int(bitPattern: stream(at: place)) >> 16))
  }

  /// Returns the place for the stream of these bytes.
  private func place(for bytes: UnsafePointer<UInt8>, count: Int) -> Int {
    // For so few bytes, the assembly calls code without this defect.
    guard count > 16 else { return 0 }
    var mask = Self.hashSize - 1
    if mask > 2 * count { mask = 1 << UInt32(UInt32.bitWidth - UInt32(count).leadingZeroBitCount) - 1 }
    let first = UnsafeRawPointer(bytes)
    let (a, b, c) = (hash(first, mask), hash(first + 1, mask), hash(first + 2, mask))
    for place in 0..<Self.placeCount - 1 {
      let met = met(at: place) & mask
      if met != a, met != b, met != c { return place }
    }
    return Self.placeCount - 1
  }

  private func hash(_ bytes: UnsafeRawPointer, _ mask: UInt32) -> UInt32 {
    Self.hash(bytes.loadUnaligned(as: UInt32.self)) & mask
  }

  /// Returns the result of the processor's `crc32` for four bytes.
  static func hash(_ value: UInt32) -> UInt32 {
    var value = value
    for _ in 0..<32 { value = value >> 1 ^ (value & 1 == 1 ? 0x82f6_3b78 : 0) }
    return value
  }
}

/// zlib streams by libdeflate: slightly smaller than those of zlib at the same level, and faster. For one thread.
final class ThoroughDeflate {
  private let compressor: OpaquePointer

  init(level: Int) throws(BuildError) {
    guard let compressor = libdeflate_alloc_compressor(Int32(level)) else {
      throw BuildError("tile", "no memory for a compressor", isTemporary: true)
    }
    self.compressor = compressor
  }

  deinit { libdeflate_free_compressor(compressor) }

  /// - Returns: the number of bytes written; 0 if they do not fit.
  func deflate(
    _ bytes: UnsafePointer<UInt8>, count: Int, to data: UnsafeMutablePointer<UInt8>, capacity: Int
  ) -> Int {
    libdeflate_zlib_compress(compressor, bytes, count, data, capacity)
  }

  static func deflated(_ bytes: [UInt8], level: Int) throws(BuildError) -> [UInt8] {
    let deflate = try ThoroughDeflate(level: level)
    let most = libdeflate_zlib_compress_bound(deflate.compressor, bytes.count)
    return [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      count = deflate.deflate(bytes, count: bytes.count, to: buffer.baseAddress!, capacity: most)
    }
  }
}
