import TileStorage

/// Turns a rectangle of 8-bit pixels into one tile's bytes. One per thread; its memory is used again.
protocol TileEncoding: AnyObject {
  /// - Returns: bytes that stay valid until the next call.
  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer
}

extension BuildOptions {
  /// An encoder for tiles of that layout.
  ///
  /// - Parameter profile: for AVIF, into whose boxes no other can write it; see `TileProfile`.
  func encoder(_ layout: PixelLayout, profile: [UInt8]?) throws(BuildError) -> any TileEncoding {
    switch format {
    case .jpeg: try JPEGTileEncoder(layout, quality: quality, subsampling: subsampling, tileSize: tileSize)
    case .webp: try WebPTileEncoder(bands: layout.bandsPerPlane, quality: quality, tileSize: tileSize)
    case .avif: AVIFTileEncoder(bands: layout.bandsPerPlane, quality: quality, profile: profile)
    case .png: try PNGTileEncoder(bands: layout.bandsPerPlane, tileSize: tileSize)
    }
  }
}
