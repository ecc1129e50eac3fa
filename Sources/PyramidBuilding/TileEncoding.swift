import Imaging
import TileStorage

/// Turns a rectangle of 8-bit pixels into one tile's bytes. One per thread; its memory is used again.
protocol TileEncoding: AnyObject {
  /// - Parameters:
  ///   - pixels: bands interleaved, rows `stride` bytes apart.
  /// - Returns: bytes that stay valid until the next call.
  func encode(
    _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int
  ) throws(BuildError) -> UnsafeRawBufferPointer
}

extension BuildOptions {
  /// An encoder for tiles of `bands` bands.
  func encoder(bands: Int) throws(BuildError) -> any TileEncoding {
    switch format {
    case .jpeg: try JPEGTileEncoder(bands: bands, quality: quality, tileSize: tileSize)
    default: PNGTileEncoder(bands: bands)
    }
  }
}

/// PNG tiles by libvips.
final class PNGTileEncoder: TileEncoding {
  private let bands: Int
  private var bytes: [UInt8] = []
  private var copy: UnsafeMutableRawBufferPointer = .allocate(byteCount: 0, alignment: 1)

  init(bands: Int) { self.bands = bands }

  deinit { copy.deallocate() }

  func encode(
    _ pixels: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int
  ) throws(BuildError) -> UnsafeRawBufferPointer {
    do {
      let image = Image(copying: pixels, width: width, height: height, bands: bands, stride: stride)
      bytes = try image.pngBytes()
    } catch { throw BuildError("tile", error) }
    if copy.count < bytes.count {
      copy.deallocate()
      copy = .allocate(byteCount: bytes.count * 2, alignment: 16)
    }
    copy.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(rebasing: copy[..<bytes.count])
  }
}
