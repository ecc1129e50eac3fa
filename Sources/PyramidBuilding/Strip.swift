import TileGeometry

/// One row of tiles of one level: its pixels while it fills and is worked on. Used again for the next row.
final class Strip {
  /// Halvings from full resolution; 0 is the image itself.
  let shift: Int
  let stride: Int
  let pixels: UnsafeMutablePointer<UInt8>
  /// The row of tiles, from the top.
  private(set) var row = 0
  /// Pixel rows in use; the last strip of a level may have fewer than the tile size.
  private(set) var height = 0
  let columns: Int
  /// The next tile nobody has taken, and how many are done.
  var nextTile = 0
  var doneTiles = 0
  /// Tiles of the finer level that still have to be shrunk into this strip.
  var missingChildren = 0
  /// The encoded tiles, by column; handed on when the strip is done.
  private(set) var encoded: [EncodedTile]

  init(_ level: StripLevel) {
    shift = level.shift
    columns = level.columns
    // Room for one more column and row: an odd edge is repeated before it is shrunk.
    stride = level.columns * level.tileSize * level.bands + 64
    pixels = .allocate(capacity: stride * (level.tileSize + 1))
    encoded = []
  }

  deinit {
    pixels.deallocate()
    for tile in encoded { tile.bytes.deallocate() }
  }

  func put(_ tile: EncodedTile, column: Int) { encoded[column] = tile }

  /// Gives the encoded tiles away; their memory is the taker's from then on.
  func takeEncoded() -> [EncodedTile] {
    defer { encoded = [] }
    return encoded
  }

  /// Made ready for row `row` of its level.
  func begin(row: Int, _ level: StripLevel) {
    self.row = row
    height = min(level.tileSize, level.height - row * level.tileSize)
    nextTile = 0
    doneTiles = 0
    missingChildren = level.children(ofRow: row)
    encoded = Array(
      repeating: EncodedTile(bytes: UnsafeRawBufferPointer(start: nil, count: 0), crc: 0), count: columns)
  }
}

/// A tile's bytes on their way to the archive, in memory of their own.
struct EncodedTile {
  let bytes: UnsafeRawBufferPointer
  let crc: UInt32
}

/// What all strips of one level have in common.
struct StripLevel {
  let shift: Int
  let width: Int
  let height: Int
  let columns: Int
  let rows: Int
  let tileSize: Int
  let bands: Int
  /// Tiles in a row of the next finer level, and its rows; 0 at full resolution.
  let childColumns: Int
  let childRows: Int

  init(_ pyramid: Pyramid, shift: Int, bands: Int) {
    let level = pyramid.topLevel - shift
    let size = pyramid.size(ofLevel: level)
    self.shift = shift
    (width, height) = (size.width, size.height)
    (columns, rows) = (pyramid.columns(ofLevel: level), pyramid.rows(ofLevel: level))
    tileSize = pyramid.tileSize
    self.bands = bands
    childColumns = shift == 0 ? 0 : pyramid.columns(ofLevel: level + 1)
    childRows = shift == 0 ? 0 : pyramid.rows(ofLevel: level + 1)
  }

  func children(ofRow row: Int) -> Int { min(2, max(0, childRows - 2 * row)) * childColumns }
}
