import ZigguratImaging

/// JPEG XL tiles by libjxl.
final class JPEGXLTileEncoder: TileEncoding {
  private let bands: PixelBands
  private let quality: Int
  private let profile: [UInt8]?
  /// A tile's rows without gaps.
  private let packed: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private let kept = KeptBytes()

  init(bands: PixelBands, quality: Int, profile: [UInt8]?, tileSize: Int) {
    self.bands = bands
    self.quality = quality
    self.profile = profile
    capacity = tileSize * tileSize * bands.count
    packed = .allocate(capacity: capacity)
  }

  deinit { packed.deallocate() }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    let (plane, rowSize) = (tile.planes.0, tile.width * bands.count)
    for y in 0..<tile.height {
      (packed + y * rowSize).update(from: plane.base + y * plane.stride, count: rowSize)
    }
    do throws(ImagingError) {
      return kept.keep(
        try JPEGXL.encode(
          UnsafeRawBufferPointer(start: packed, count: tile.height * rowSize), width: tile.width,
          height: tile.height, bands: bands, quality: quality, effort: .thorough, profile: profile))
    } catch { throw BuildError("tile", error) }
  }
}

/// Makes JPEG XL of JPEG tiles, which can be had back byte for byte. One per thread; its memory is used again.
final class JPEGRecompression {
  private let kept = KeptBytes()

  /// - Returns: bytes that stay valid until the next call.
  func recompressed(_ jpeg: UnsafeRawBufferPointer) throws(BuildError) -> UnsafeRawBufferPointer {
    do throws(ImagingError) {
      return kept.keep(try JPEGXL.recompress(jpeg: jpeg))
    } catch { throw BuildError("tile", error) }
  }
}

/// Bytes that stay where they are until the next ones come.
private final class KeptBytes {
  private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)

  deinit { buffer.deallocate() }

  func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    if buffer.count < bytes.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: bytes.count * 2, alignment: 16)
    }
    buffer.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count])
  }
}
