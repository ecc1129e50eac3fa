import TileStorage
import ZigguratFiles

/// The chunks behind the pixel data of a PNG file: EXIF may stand there (PNG, third edition, 5.6), and the last one
/// does.
struct PNGTail {
  /// The content of the first EXIF behind the pixels; nil if there is none.
  private(set) var exif: Range<Int>?
  /// The place behind the last chunk; nil if the file does not have that chunk.
  private(set) var end: Int?

  init(_ reader: PositionalReader) {
    var (place, isBehindPixels) = (8, false)
    while end == nil, let head = PNGChunkHead(reader, at: place) {
      switch head.name {
      case PNGChunk.data:
        isBehindPixels = true
        place = head.lastAlike(reader, from: place)
      case PNGChunk.exif where isBehindPixels && exif == nil:
        exif = place + 8..<place + 8 + head.length
      case PNGChunk.end: end = place + 12 + head.length
      default: break
      }
      place += 12 + head.length
    }
  }
}
