import TileGeometry
import TileStorage
import ZigguratHTTPMessages
import ZigguratText

/// The URLs of an image's tiles. They contain the archive's generation, so that clients may cache them for ever.
struct TileURLs {
  private let scheme: TileScheme
  private let pyramid: Pyramid
  private let format: TileFormat
  // Escaped for a JSON string.
  private let head: [UInt8]
  private let tail: [UInt8]

  init(_ scheme: TileScheme, id: String, archive: TileArchive, base: String) {
    self.scheme = scheme
    pyramid = archive.pyramid
    format = archive.format
    head = JSONWriter.escaped(scheme.folder(ofID: PercentEncoding.encode(id), base: base))
    tail = JSONWriter.escaped("?v=\(String(archive.generation, radix: 16))")
  }

  /// Writes the tile's URL as a JSON string.
  func write(_ tile: CoveredTile, _ text: inout JSONWriter) {
    withUnsafeTemporaryAllocation(byteCount: URLWriter.maxNameLength, alignment: 1) { buffer in
      var name = URLWriter(buffer)
      scheme.write(tile.address, tile.source, of: pyramid, format, to: &name)
      text.string { text in
        text.part(escaped: head)
        text.part(plain: name.bytes)
        text.part(escaped: tail)
      }
    }
  }
}
