import TileStorage
import ZigguratImaging

/// Turns a rectangle of 8-bit pixels into one tile's bytes. One per thread; its memory is used again.
protocol TileEncoding: AnyObject {
  /// - Returns: bytes that stay valid until the next call.
  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer
}

extension TileFormat {
  /// Whether its encoder takes several times longer than JPEG's.
  var isSlow: Bool {
    switch self {
    case .jpeg: false
    case .png, .webp, .avif, .jxl: true
    }
  }

  /// Bytes that its encoder takes for each pixel of a tile, beyond the few that all take.
  var encoderBytesPerPixel: Int {
    switch self {
    case .jpeg, .png, .webp, .avif: 0
    case .jxl: 64
    }
  }

  /// Whether its encoder starts threads, and keeps them: those of libvips do.
  var startsThreads: Bool {
    switch self {
    case .jpeg, .png, .webp, .jxl: false
    case .avif: true
    }
  }
}

extension BuildOptions {
  /// The format in which a tile's pixels are encoded: the tile's, or the one that the tile is made of.
  var coding: TileFormat { recompressesJPEG ? .jpeg : format }

  /// An encoder for tiles of that layout.
  ///
  /// - Parameter profile: for AVIF and JPEG XL, into which no other can write it; see `TileProfile`.
  func encoder(_ layout: PixelLayout, profile: [UInt8]?) throws(BuildError) -> any TileEncoding {
    switch coding {
    case .jpeg: try JPEGTileEncoder(layout, quality: quality, subsampling: subsampling, tileSize: tileSize)
    case .webp: try WebPTileEncoder(bands: layout.bands, quality: quality, tileSize: tileSize)
    case .avif: AVIFTileEncoder(bands: layout.bands, quality: quality, profile: profile)
    case .jxl:
      JPEGXLTileEncoder(bands: layout.bands, quality: quality, profile: profile, tileSize: tileSize)
    case .png: try PNGTileEncoder(bands: layout.bands, tileSize: tileSize)
    }
  }
}
