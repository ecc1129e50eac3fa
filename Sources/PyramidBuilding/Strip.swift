import TileGeometry

/// One row of tiles of one level: its pixels while it fills and is worked on. Used again for the next row.
final class Strip {
  /// Halvings from full resolution; 0 is the image itself.
  let shift: Int
  let columns: Int
  private let level: StripLevel
  private let planes: (Plane, Plane, Plane)
  /// DCT coefficients, where the source gives those; `coefficientStride` blocks to a row of MCUs.
  let coefficients: UnsafeMutablePointer<Int16>?
  /// The row of tiles, from the top.
  private(set) var row = 0
  /// Pixel rows in use; the last strip of a level may have fewer than the tile size.
  private(set) var height = 0
  /// The next piece to decode, and how many are.
  var nextPiece = 0
  var donePieces = 0
  /// The next tile nobody has taken, and how many are done.
  var nextTile = 0
  var doneTiles = 0
  /// Tiles of the finer level that still have to be shrunk into this strip.
  var missingChildren = 0
  private var encoded: [EncodedTile]

  init(_ level: StripLevel, coefficientCount: Int = 0) {
    self.level = level
    shift = level.shift
    columns = level.columns
    encoded = []
    func plane(_ index: Int) -> Plane {
      guard index < level.layout.planeCount, coefficientCount == 0 else {
        return Plane(base: Self.nowhere, stride: 0)
      }
      let step = level.layout.subsampling(ofPlane: index)
      let stride = level.columns * level.tileSize / step * level.layout.bandsPerPlane + 64
      return Plane(base: .allocate(capacity: stride * (level.tileSize / step + 1)), stride: stride)
    }
    planes = (plane(0), plane(1), plane(2))
    coefficients = coefficientCount > 0 ? .allocate(capacity: coefficientCount) : nil
  }

  // Only an address to hold where there is no plane; never read or written, never freed.
  nonisolated(unsafe) private static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  deinit {
    for plane in [planes.0, planes.1, planes.2] where plane.stride > 0 { plane.base.deallocate() }
    coefficients?.deallocate()
    for tile in encoded { tile.bytes.deallocate() }
  }

  /// Made ready for row `row` of its level.
  func begin(row: Int) {
    self.row = row
    height = min(level.tileSize, level.height - row * level.tileSize)
    (nextPiece, donePieces, nextTile, doneTiles) = (0, 0, 0, 0)
    missingChildren = level.children(ofRow: row)
    encoded = Array(
      repeating: EncodedTile(bytes: UnsafeRawBufferPointer(start: nil, count: 0), crc: 0), count: columns)
  }

  var layout: PixelLayout { level.layout }
  var tileSize: Int { level.tileSize }

  func plane(_ index: Int) -> Plane {
    switch index {
    case 0: planes.0
    case 1: planes.1
    default: planes.2
    }
  }

  /// Pixel columns of tile `column`.
  func width(ofTile column: Int) -> Int { min(level.tileSize, level.width - column * level.tileSize) }

  func pixels(ofTile column: Int) -> TilePixels {
    let offset = column * level.tileSize * level.layout.bandsPerPlane
    var moved = planes
    moved.0.base += offset
    if level.layout == .planar420 {
      moved.1.base += offset / 2
      moved.2.base += offset / 2
    }
    return TilePixels(level.layout, width: width(ofTile: column), height: height, planes: moved)
  }

  /// Where the pixels go that tile `column` in row `row` of the finer level is shrunk to.
  func quarter(ofChildTile column: Int, row: Int) -> TilePixels {
    var moved = pixels(ofTile: 0).planes
    func move(_ plane: inout Plane, _ step: Int) {
      let half = level.tileSize / 2 / step
      plane.base += row % 2 * half * plane.stride + column * half * level.layout.bandsPerPlane
    }
    move(&moved.0, 1)
    if level.layout == .planar420 {
      move(&moved.1, 2)
      move(&moved.2, 2)
    }
    return TilePixels(level.layout, width: level.tileSize / 2, height: level.tileSize / 2, planes: moved)
  }

  func put(_ tile: EncodedTile, column: Int) { encoded[column] = tile }

  /// Gives the encoded tiles away; their memory is the taker's from then on.
  func takeEncoded() -> [EncodedTile] {
    defer { encoded = [] }
    return encoded
  }
}

/// A tile's bytes on their way to the archive, in memory of their own.
struct EncodedTile {
  let bytes: UnsafeRawBufferPointer
  let crc: UInt32

  init(bytes: UnsafeRawBufferPointer, crc: UInt32) { (self.bytes, self.crc) = (bytes, crc) }
}

/// What all strips of one level have in common.
struct StripLevel {
  let shift: Int
  let width: Int
  let height: Int
  let columns: Int
  let rows: Int
  let tileSize: Int
  let layout: PixelLayout
  /// Tiles in a row of the next finer level, and its rows; 0 at full resolution.
  let childColumns: Int
  let childRows: Int

  init(_ pyramid: Pyramid, shift: Int, layout: PixelLayout) {
    let level = pyramid.topLevel - shift
    let size = pyramid.size(ofLevel: level)
    self.shift = shift
    (width, height) = (size.width, size.height)
    (columns, rows) = (pyramid.columns(ofLevel: level), pyramid.rows(ofLevel: level))
    tileSize = pyramid.tileSize
    self.layout = layout
    childColumns = shift == 0 ? 0 : pyramid.columns(ofLevel: level + 1)
    childRows = shift == 0 ? 0 : pyramid.rows(ofLevel: level + 1)
  }

  /// A level that is one tile.
  init(oneTile tileSize: Int, layout: PixelLayout) {
    (shift, width, height, columns, rows) = (0, tileSize, tileSize, 1, 1)
    (self.tileSize, self.layout, childColumns, childRows) = (tileSize, layout, 0, 0)
  }

  func children(ofRow row: Int) -> Int { min(2, max(0, childRows - 2 * row)) * childColumns }
}
