import ZigguratImaging

/// One row of tiles of one level while it fills and is worked on. Used again for another row.
///
/// The pixels of each tile stand by themselves: in memory they are together as they are in work, and a
/// tile that is done gives its memory to the next, whatever its level.
final class Strip {
  let level: StripLevel
  /// DCT coefficients, where the source gives those.
  let coefficients: UnsafeMutablePointer<Int16>?
  /// The row of tiles, from the top.
  private(set) var row = 0
  /// Pixel rows in use; the last strip of a level may have fewer than the tile size.
  private(set) var height = 0
  /// The next piece to decode, and how many are.
  var nextPiece = 0
  var donePieces = 0
  /// The next free tile, and the number of completed ones.
  var nextTile = 0
  var doneTiles = 0
  // Not arrays: several threads write to different tiles.
  private let blocks: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
  private let encoded: UnsafeMutablePointer<EncodedTile>
  private let missingChildren: UnsafeMutablePointer<Int8>

  init(_ level: StripLevel, coefficientCount: Int = 0) {
    self.level = level
    coefficients = coefficientCount > 0 ? .allocate(capacity: coefficientCount) : nil
    blocks = .allocate(capacity: level.columns)
    blocks.initialize(repeating: nil, count: level.columns)
    encoded = .allocate(capacity: level.columns)
    encoded.initialize(repeating: .none, count: level.columns)
    missingChildren = .allocate(capacity: level.columns)
    missingChildren.initialize(repeating: 0, count: level.columns)
  }

  deinit {
    for column in 0..<columns {
      blocks[column]?.deallocate()
      encoded[column].bytes.deallocate()
    }
    coefficients?.deallocate()
    blocks.deallocate()
    encoded.deallocate()
    missingChildren.deallocate()
  }

  /// Made ready for row `row` of its level.
  func begin(row: Int) {
    self.row = row
    height = min(tileSize, level.height - row * tileSize)
    nextPiece = 0
    donePieces = 0
    nextTile = 0
    doneTiles = 0
    for column in 0..<columns {
      missingChildren[column] = Int8(level.children(ofTile: column, row: row))
    }
  }

  var shift: Int { level.shift }
  var columns: Int { level.columns }
  var layout: PixelLayout { level.layout }
  var tileSize: Int { level.tileSize }

  /// Pixel columns of tile `column`.
  func width(ofTile column: Int) -> Int { min(tileSize, level.width - column * tileSize) }

  func hasBlock(_ column: Int) -> Bool { blocks[column] != nil }

  /// Gives tile `column` memory for its pixels.
  func setBlock(_ block: UnsafeMutablePointer<UInt8>, _ column: Int) { blocks[column] = block }

  /// Takes the tile's memory from it, if it has any.
  func takeBlock(_ column: Int) -> UnsafeMutablePointer<UInt8>? {
    defer { blocks[column] = nil }
    return blocks[column]
  }

  /// The pixels of a tile that has memory.
  func pixels(ofTile column: Int) -> TilePixels {
    TilePixels(
      layout, width: width(ofTile: column), height: height, planes: level.block.planes(at: blocks[column]!))
  }

  /// Returns the place of the pixels to which tile `column` in row `row` of the finer level is shrunk.
  func quarter(ofChildTile column: Int, row: Int) -> TilePixels {
    let (planes, half) = (level.block.planes(at: blocks[column / 2]!), tileSize / 2)
    return TilePixels(
      layout, width: half, height: half,
      planes: planes.from(column: column % 2 * half, row: row % 2 * half, layout))
  }

  /// Counts a tile of the finer level that has been shrunk into this strip.
  ///
  /// - Returns: whether it was the last of its parent tile.
  func countChild(_ column: Int) -> Bool {
    missingChildren[column / 2] -= 1
    return missingChildren[column / 2] == 0
  }

  /// Copies part of a row of pixels into the tiles it lies on.
  ///
  /// - Parameters:
  ///   - count: of samples of the plane; those of all bands of a pixel are one.
  ///   - x: of the first, from the image's left edge, in samples of the plane.
  ///   - y: from the strip's upper edge, in samples of the plane.
  func put(_ bytes: UnsafePointer<UInt8>, count: Int, plane: Int, x: Int, y: Int) {
    let side = tileSize / layout.subsampling(ofPlane: plane)
    let bands = layout.bandsPerPlane
    var (from, x, rest) = (bytes, x, count)
    while rest > 0 {
      let column = x / side
      let part = min(rest, side - x % side)
      let target = level.block.planes(at: blocks[column]!)[plane]
      (target.base + y * target.stride + x % side * bands).update(from: from, count: part * bands)
      from += part * bands
      x += part
      rest -= part
    }
  }

  /// Copies rows of pixels into the tiles they lie on; `x` and `y` are where the first of them goes.
  func put(_ planes: Planes, rows: Range<Int>, width: Int, x: Int, y: Int) {
    for plane in 0..<layout.planeCount {
      let step = layout.subsampling(ofPlane: plane)
      for row in 0..<(rows.count + step - 1) / step {
        put(
          planes[plane].base + (rows.lowerBound / step + row) * planes[plane].stride,
          count: (width + step - 1) / step, plane: plane, x: x / step, y: y / step + row)
      }
    }
  }

  func put(_ tile: EncodedTile, column: Int) { encoded[column] = tile }

  /// Gives the encoded tiles away; their memory is the taker's from then on.
  func takeEncoded() -> [EncodedTile] {
    defer { encoded.update(repeating: .none, count: columns) }
    return Array(UnsafeBufferPointer(start: encoded, count: columns))
  }
}

/// A tile's bytes on their way to the archive, in memory of their own.
struct EncodedTile {
  let bytes: UnsafeRawBufferPointer
  let crc: UInt32

  static var none: EncodedTile { EncodedTile(bytes: UnsafeRawBufferPointer(start: nil, count: 0), crc: 0) }
}
