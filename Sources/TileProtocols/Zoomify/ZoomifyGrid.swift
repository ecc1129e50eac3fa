package import TileGeometry
package import TileStorage

/// The tiles of an image as Zoomify counts them: 256 pixels along a side, levels halved rounding down, as Zoomify's
/// viewer, OpenSeadragon and OpenLayers (`tierSizeCalculation: 'truncated'`) compute them.
///
/// A tile is the same place of the stored level, without the last column or row of pixels if the stored level has one
/// more. OpenSeadragon and OpenLayers also request the tiles that hold only this last column or row, because they lay
/// out levels by their exact scale. Such a tile is answered with those pixels.
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

  /// The number of the folder of 256 tiles that a tile is in.
  package func group(level: Int, x: Int, y: Int) -> Int {
    index(level: level, x: x, y: y) / ZoomifyTile.groupSize
  }

  private func index(level: Int, x: Int, y: Int) -> Int {
    var index = y * levels.columns(ofLevel: level) + x
    for lower in 0..<level { index += levels.tileCount(ofLevel: lower) }
    return index
  }

  func place(of tile: ZoomifyTile) -> TilePlace {
    guard tile.level < levels.levelCount else { return .nowhere(.noSuchTile) }
    let level = levels.storedLevel(ofLevel: tile.level)
    let (floored, stored) = (levels.size(ofLevel: tile.level), pyramid.size(ofLevel: level))
    guard let (left, width) = Self.span(tile.x, floored.width, stored.width),
      let (top, height) = Self.span(tile.y, floored.height, stored.height)
    else { return .nowhere(.noSuchTile) }
    let index = index(level: tile.level, x: tile.x, y: tile.y)
    // OpenLayers counts the coarsest level as one tile, also if a side was halved away.
    let isUncounted = tile.level > 0 && levels.tileCount(ofLevel: 0) == 0
    let (group, other) = (
      index / ZoomifyTile.groupSize, (index + (isUncounted ? 1 : 0)) / ZoomifyTile.groupSize
    )
    guard tile.group == group || tile.group == other else {
      return .nowhere(TileRefusal("this tile is in TileGroup\(group)", status: 404))
    }
    let rectangle = PixelRect(x: left, y: top, width: width, height: height)
    let address = TileAddress(level: level, column: tile.x, row: tile.y)
    if pyramid.tileSize == Self.tileSize, pyramid.overlap == 0, pyramid.rectangle(of: address) == rectangle {
      return .stored(address)
    }
    return .cut(
      rectangle, level: level, paddedTo: PixelSize(width: rectangle.width, height: rectangle.height)!)
  }

  /// The first pixel of a tile and its length along one side; nil if there is no such tile.
  /// - Parameters:
  ///   - floored: length of the level, rounded down.
  ///   - stored: length of the stored level, rounded up.
  private static func span(_ tile: Int, _ floored: Int, _ stored: Int) -> (start: Int, length: Int)? {
    let (start, overflow) = tile.multipliedReportingOverflow(by: tileSize)
    guard !overflow, start < stored else { return nil }
    return (start, min(tileSize, (start < floored ? floored : stored) - start))
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
