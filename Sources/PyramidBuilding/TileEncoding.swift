import Imaging
import TileStorage

/// Turns a rectangle of 8-bit pixels into one tile's bytes. One per thread; its memory is used again.
protocol TileEncoding: AnyObject {
  /// - Returns: bytes that stay valid until the next call.
  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer
}

extension BuildOptions {
  /// An encoder for tiles of that layout.
  func encoder(_ layout: PixelLayout) throws(BuildError) -> any TileEncoding {
    switch format {
    case .jpeg: try JPEGTileEncoder(layout, quality: quality, tileSize: tileSize)
    default: PNGTileEncoder(bands: layout.bandsPerPlane)
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

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    do {
      let image = Image(
        copying: tile.planes.0.base, width: tile.width, height: tile.height, bands: bands,
        stride: tile.planes.0.stride)
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
