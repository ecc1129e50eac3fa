import TileStorage
import ZigguratCDeflate

/// Writes an ICC profile into encoded tiles, whatever made them. One per thread; its memory is used again.
final class TileProfile {
  private let format: TileFormat
  /// What goes into every tile: JPEG's segments, PNG's or WebP's chunk.
  private let block: [UInt8]
  private var buffer: UnsafeMutableRawBufferPointer

  /// AVIF and JPEG XL tiles get theirs from their encoder.
  init(_ profile: [UInt8], format: TileFormat) throws(BuildError) {
    self.format = format
    block =
      switch format {
      case .jpeg: try Self.segments(profile)
      case .png: try Self.pngChunk(profile)
      case .webp: Self.riffChunk(profile)
      case .avif, .jxl: []
      }
    buffer = .allocate(byteCount: 1 << 16, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// - Returns: the tile with the profile, valid until the next call.
  func inserted(
    into tile: UnsafeRawBufferPointer, width: Int, height: Int
  ) throws(BuildError) -> UnsafeRawBufferPointer {
    switch format {
    case .jpeg:
      // Behind the start of image, and behind JFIF's header, which has to be the first segment.
      let hasJFIF = tile.count > 6 && tile[2] == 0xff && tile[3] == 0xe0
      return joined(tile, at: hasJFIF ? 4 + (Int(tile[4]) << 8 | Int(tile[5])) : 2, block)
    case .png: return joined(tile, at: 33, block)  // behind IHDR, which is always that long
    case .webp: return webp(tile, width, height)
    case .avif, .jxl: return tile
    }
  }

  private func joined(
    _ tile: UnsafeRawBufferPointer, at place: Int, _ block: [UInt8]
  ) -> UnsafeRawBufferPointer {
    let count = tile.count + block.count
    if buffer.count < count {
      buffer.deallocate()
      buffer = .allocate(byteCount: count * 2, alignment: 16)
    }
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: tile[..<place]))
    UnsafeMutableRawBufferPointer(rebasing: buffer[place...]).copyBytes(from: block)
    UnsafeMutableRawBufferPointer(rebasing: buffer[(place + block.count)...])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: tile[place...]))
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }

  // MARK: JPEG (ICC.1, annex B.4)

  private static func segments(_ profile: [UInt8]) throws(BuildError) -> [UInt8] {
    let most = 65_519
    let count = (profile.count + most - 1) / most
    guard count < 256 else {
      throw BuildError("tile", "an ICC profile of \(profile.count) bytes is too large")
    }
    var bytes: [UInt8] = []
    for number in 0..<count {
      let part = profile[number * most..<min((number + 1) * most, profile.count)]
      let size = part.count + 16
      bytes += [0xff, 0xe2, UInt8(size >> 8), UInt8(size & 0xff)]
      bytes += Array("ICC_PROFILE\0".utf8) + [UInt8(number + 1), UInt8(count)] + part
    }
    return bytes
  }

  // MARK: PNG (PNG 1.2, section 4.2.2.4)

  private static func pngChunk(_ profile: [UInt8]) throws(BuildError) -> [UInt8] {
    guard let compressor = libdeflate_alloc_compressor(9) else {
      throw BuildError("tile", "no memory for a compressor", isTemporary: true)
    }
    defer { libdeflate_free_compressor(compressor) }
    var packed = [UInt8](
      repeating: 0, count: libdeflate_zlib_compress_bound(compressor, profile.count))
    let count = libdeflate_zlib_compress(compressor, profile, profile.count, &packed, packed.count)
    let content = Array("iCCPicc\0\0".utf8) + packed[..<count]
    return big(content.count - 4) + content + big(Int(libdeflate_crc32(0, content, content.count)))
  }

  private static func big(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  // MARK: WebP (RFC 9649, section 2.7)

  private static func riffChunk(_ profile: [UInt8]) -> [UInt8] {
    Array("ICCP".utf8) + little(profile.count) + profile + (profile.count % 2 == 1 ? [0] : [])
  }

  private static func little(_ number: Int) -> [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  private func webp(_ tile: UnsafeRawBufferPointer, _ width: Int, _ height: Int) -> UnsafeRawBufferPointer {
    let isExtended = tile[12..<16].elementsEqual("VP8X".utf8)
    let result: UnsafeRawBufferPointer
    if isExtended {
      result = joined(tile, at: 30, block)
      buffer[20] |= 0x20
    } else {
      // The extended header says that a profile follows, and how large the canvas is, less one.
      let hasAlpha = tile[12..<16].elementsEqual("VP8L".utf8) && tile[24] & 0x10 != 0
      let header =
        Array("VP8X".utf8) + Self.little(10) + [0x20 | (hasAlpha ? 0x10 : 0), 0, 0, 0]
        + Self.little(width - 1)[..<3] + Self.little(height - 1)[..<3]
      result = joined(tile, at: 12, header + block)
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[4..<8]).copyBytes(from: Self.little(result.count - 8))
    return result
  }
}
