import TileStorage
import ZigguratFiles

/// Writes an ICC profile into encoded tiles, whatever made them. One per thread; its memory is used again.
final class TileProfile {
  private let format: TileFormat
  /// The bytes that are inserted into every tile: JPEG's segments, PNG's or WebP's chunk.
  private let block: [UInt8]
  private let kept = ReusableBuffer()

  /// AVIF and JPEG XL tiles get theirs from their encoder.
  init(_ profile: [UInt8], format: TileFormat) throws(BuildError) {
    self.format = format
    block =
      switch format {
      case .jpeg: try Self.segments(profile)
      case .png:
        try PNGChunk.bytes(
          PNGChunk.profile, Array("icc\0\0".utf8) + ThoroughDeflate.deflated(profile, level: 9))
      case .webp: Self.riffChunk(profile)
      case .avif, .jxl: []
      }
  }

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
    kept.reserve(count)
    let buffer = kept.memory
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

  // MARK: WebP (RFC 9649, section 2.7)

  private static func riffChunk(_ profile: [UInt8]) -> [UInt8] {
    Array("ICCP".utf8) + little(profile.count) + profile + (profile.count % 2 == 1 ? [0] : [])
  }

  private static func little(_ number: Int) -> [UInt8] { ByteOrder.little.bytes(number, 4) }

  private func webp(_ tile: UnsafeRawBufferPointer, _ width: Int, _ height: Int) -> UnsafeRawBufferPointer {
    let isExtended = tile[12..<16].elementsEqual("VP8X".utf8)
    let result: UnsafeRawBufferPointer
    if isExtended {
      result = joined(tile, at: 30, block)
      kept.memory[20] |= 0x20
    } else {
      // The extended header says that a profile follows, and how large the canvas is, less one.
      let hasAlpha = tile[12..<16].elementsEqual("VP8L".utf8) && tile[24] & 0x10 != 0
      let header =
        Array("VP8X".utf8) + Self.little(10) + [0x20 | (hasAlpha ? 0x10 : 0), 0, 0, 0]
        + Self.little(width - 1)[..<3] + Self.little(height - 1)[..<3]
      result = joined(tile, at: 12, header + block)
    }
    UnsafeMutableRawBufferPointer(rebasing: kept.memory[4..<8]).copyBytes(from: Self.little(result.count - 8))
    return result
  }
}
