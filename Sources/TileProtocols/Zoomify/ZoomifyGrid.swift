package import TileGeometry
package import TileStorage

/// An image's tiles as Zoomify counts them: 256 pixels along a side, and levels are halved rounding down, as Zoomify's own
/// viewer and OpenSeadragon reckon.
///
/// A tile is the same place of the stored level, less the last column or row of pixels where those differ.
package struct ZoomifyGrid {
  package static let tileSize = 256

  private let pyramid: Pyramid
  /// A side has no pixels where it was halved away.
  package let levels: FlooredGrid

  package init(_ pyramid: Pyramid) {
    self.pyramid = pyramid
    levels = FlooredGrid(pyramid, tileSize: Self.tileSize, leastSide: 0)
  }

  var tileCount: Int { (0..<levels.levelCount).reduce(0) { $0 + levels.tileCount(ofLevel: $1) } }

  /// Which of the folders of 256 tiles a tile is in; nil outside the grid.
  package func group(level: Int, x: Int, y: Int) -> Int? {
    guard level >= 0, level < levels.levelCount, x >= 0, x < levels.columns(ofLevel: level), y >= 0,
      y < levels.rows(ofLevel: level)
    else { return nil }
    var index = y * levels.columns(ofLevel: level) + x
    for lower in 0..<level { index += levels.tileCount(ofLevel: lower) }
    return index / ZoomifyTile.groupSize
  }

  func place(of tile: ZoomifyTile) -> TilePlace {
    guard let group = group(level: tile.level, x: tile.x, y: tile.y) else { return .nowhere(.noSuchTile) }
    guard group == tile.group else {
      return .nowhere(TileRefusal("this tile is in TileGroup\(group)", status: 404))
    }
    let (width, height) = levels.size(ofLevel: tile.level)
    let (left, top) = (tile.x * Self.tileSize, tile.y * Self.tileSize)
    let rectangle = PixelRect(
      x: left, y: top, width: min(Self.tileSize, width - left), height: min(Self.tileSize, height - top))
    let level = levels.storedLevel(ofLevel: tile.level)
    let address = TileAddress(level: level, column: tile.x, row: tile.y)
    if pyramid.tileSize == Self.tileSize, pyramid.overlap == 0, pyramid.rectangle(of: address) == rectangle {
      return .stored(address)
    }
    return .cut(
      rectangle, level: level, paddedTo: PixelSize(width: rectangle.width, height: rectangle.height)!)
  }

  /// `ImageProperties.xml`
  var xml: String { Self.xml(pyramid.imageSize, tileCount: tileCount, tileSize: Self.tileSize) }

  /// `ImageProperties.xml` of any grid.
  package static func xml(_ size: PixelSize, tileCount: Int, tileSize: Int) -> String {
    """
    <IMAGE_PROPERTIES WIDTH="\(size.width)" HEIGHT="\(size.height)" NUMTILES="\(tileCount)" \
    NUMIMAGES="1" VERSION="1.8" TILESIZE="\(tileSize)" />

    """
  }
}

/// A tile's name as Zoomify has it: `TileGroup{group}/{level}-{x}-{y}.`, and the ending.
package struct ZoomifyTile: Hashable, Sendable {
  /// How many tiles a folder holds.
  package static let groupSize = 256

  package let group: Int
  package let level: Int
  package let x: Int
  package let y: Int

  package init(group: Int, level: Int, x: Int, y: Int) {
    (self.group, self.level, self.x, self.y) = (group, level, x, y)
  }

  init?(_ reader: inout PathReader) {
    guard reader.skip("TileGroup") else { return nil }
    // A group that is no number is one that no tile is in.
    var group = reader.number() ?? -1
    if !reader.skip(UInt8(ascii: "/")) {
      guard reader.part(before: UInt8(ascii: "/")) != nil else { return nil }
      group = -1
    }
    guard let (level, x, y) = reader.tile(UInt8(ascii: "-"), UInt8(ascii: "-")) else { return nil }
    self.init(group: group, level: level, x: x, y: y)
  }

  /// Inverse of `init(_:)`.
  package func write(_ text: inout PathText, _ format: TileFormat) {
    text.put("TileGroup")
    text.put(group)
    text.put("/")
    text.put(tile: (level, x, y), UInt8(ascii: "-"), UInt8(ascii: "-"), format)
  }
}
