public import TileStorage
import ZigguratImaging

/// An encoder of tiles in place of the one that the builder has for a format.
///
/// One encoder is used by all threads of a build at the same time.
public protocol TileEncoder: Sendable {
  /// The format of the tiles that it makes.
  var format: TileFormat { get }

  /// Encodes a tile.
  ///
  /// - Parameters:
  ///   - pixels: `height × width × bands` samples of 8 bits, row by row and pixel by pixel without gaps, valid during
  ///     the call. Colours are sRGB, and are not multiplied by alpha.
  ///   - width: level pixels from left to right; at the right edge of a level fewer than `BuildOptions.tileSize`.
  ///   - height: level pixels from top to bottom; at the bottom edge of a level fewer than `BuildOptions.tileSize`.
  ///   - bands: 1 (gray), 2 (gray and alpha), 3 (red, green and blue) or 4 (red, green, blue and alpha). There is no
  ///     alpha if `format` is `jpeg`.
  /// - Returns: a whole file of the format, not empty.
  /// - Throws: any error. The build then ends with a `BuildError` of kind `unreadableSource` whose reason contains it,
  ///   or with the error itself if it is a `BuildError`.
  func encode(_ pixels: RawSpan, width: Int, height: Int, bands: Int) throws -> [UInt8]
}

/// A thread's use of a `TileEncoder`: brings pixels together, and keeps the tile until the next.
final class CustomTileEncoding: TileEncoding {
  private let encoder: any TileEncoder
  private let bands: Int
  private let rows: PackedRows
  private let kept = ReusableBuffer()

  init(_ encoder: any TileEncoder, bands: PixelBands, tileSize: Int) {
    self.encoder = encoder
    self.bands = bands.count
    rows = PackedRows(bands: bands, tileSize: tileSize)
  }

  func encode(_ tile: TilePixels) throws(BuildError) -> UnsafeRawBufferPointer {
    let bytes: [UInt8]
    do {
      bytes = try encoder.encode(
        rows.pack(tile).bytes, width: tile.width, height: tile.height, bands: bands)
    } catch { throw BuildError("tile", error) }
    guard !bytes.isEmpty else { throw BuildError("tile", "the encoder returned no bytes", .invalidArgument) }
    return kept.keep(bytes)
  }
}
