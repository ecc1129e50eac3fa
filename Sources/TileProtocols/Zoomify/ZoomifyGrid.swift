package import TileGeometry
package import TileStorage

/// The tiles of an image in Zoomify: levels are halved rounding down, as Zoomify's viewer, OpenSeadragon and OpenLayers
/// (`tierSizeCalculation: 'truncated'`) compute them.
///
/// A tile is the same place of the stored level, without the last column or row of pixels if the stored level has one
/// more. OpenSeadragon and OpenLayers also request the tiles that hold only this last column or row, because they lay
/// out levels by their exact scale. Such a tile is answered with those pixels.
package struct ZoomifyGrid: Sendable {
  /// The tile size that clients assume.
  package static let tileSize = 256

  private let pyramid: Pyramid
  private let tileSize: Int
  /// The levels; a side has no pixels if it was halved away.
  package let levels: RoundDownPyramid

  package init(_ pyramid: Pyramid, tileSize: Int = Self.tileSize) {
    self.pyramid = pyramid
    self.tileSize = tileSize
    levels = RoundDownPyramid(pyramid, tileSize: tileSize, leastSide: 0)
  }

  private var tileCount: Int { (0..<levels.levelCount).reduce(0) { $0 + levels.tileCount(ofLevel: $1) } }

  /// Returns the numbers of the folders of 256 tiles in which clients look for a tile: nearly always one.
  package func groups(level: Int, x: Int, y: Int) -> ClosedRange<Int> {
    var index = y * levels.columns(ofLevel: level) + x
    for lower in 0..<level { index += levels.tileCount(ofLevel: lower) }
    // OpenLayers counts the coarsest level as one tile, also if a side was halved away.
    let isUncounted = level > 0 && levels.tileCount(ofLevel: 0) == 0
    return index / ZoomifyTile.groupSize...(index + (isUncounted ? 1 : 0)) / ZoomifyTile.groupSize
  }

  /// Returns the number of tiles from left to right that clients request, and from top to bottom.
  package func tiles(ofLevel level: Int) -> (columns: Int, rows: Int) {
    let size = pyramid.size(ofLevel: levels.storedLevel(ofLevel: level))
    return ((size.width - 1) / tileSize + 1, (size.height - 1) / tileSize + 1)
  }

  /// Returns the pixels of a tile, in the space of its stored level; nil if there is no such tile.
  package func rectangle(level: Int, x: Int, y: Int) -> PixelRect? {
    guard level >= 0, level < levels.levelCount, x >= 0, y >= 0 else { return nil }
    let floored = levels.size(ofLevel: level)
    let stored = pyramid.size(ofLevel: levels.storedLevel(ofLevel: level))
    guard let (left, width) = span(x, floored.width, stored.width),
      let (top, height) = span(y, floored.height, stored.height)
    else { return nil }
    return PixelRect(x: left, y: top, width: width, height: height)
  }

  func place(of tile: ZoomifyTile) -> TileResolution {
    guard let rectangle = rectangle(level: tile.level, x: tile.x, y: tile.y) else {
      return .notFound(.noSuchTile)
    }
    let groups = groups(level: tile.level, x: tile.x, y: tile.y)
    guard groups.contains(tile.group) else {
      return .notFound(TileRequestError("this tile is in TileGroup\(groups.lowerBound)", status: 404))
    }
    let level = levels.storedLevel(ofLevel: tile.level)
    let address = TileAddress(level: level, column: tile.x, row: tile.y)
    if pyramid.tileSize == tileSize, pyramid.overlap == 0, pyramid.rectangle(of: address) == rectangle {
      return .stored(address)
    }
    return .crop(
      rectangle, level: level, paddedTo: PixelSize(width: rectangle.width, height: rectangle.height)!)
  }

  /// Returns the first pixel of a tile and its length along one side; nil if there is no such tile.
  /// - Parameters:
  ///   - floored: length of the level in pixels, rounded down.
  ///   - stored: length of the stored level in pixels, rounded up.
  private func span(_ tile: Int, _ floored: Int, _ stored: Int) -> (start: Int, length: Int)? {
    let (start, overflow) = tile.multipliedReportingOverflow(by: tileSize)
    guard !overflow, start < stored else { return nil }
    return (start, min(tileSize, (start < floored ? floored : stored) - start))
  }

  /// The document `ImageProperties.xml`.
  package var xml: String {
    """
    <IMAGE_PROPERTIES WIDTH="\(pyramid.imageSize.width)" HEIGHT="\(pyramid.imageSize.height)" \
    NUMTILES="\(tileCount)" NUMIMAGES="1" VERSION="1.8" TILESIZE="\(tileSize)" />

    """
  }
}

/// A tile's name in Zoomify: `TileGroup{group}/{level}-{x}-{y}.`, and the file name extension.
package struct ZoomifyTile: Hashable, Sendable {
  /// The maximum number of tiles in a folder.
  package static let groupSize = 256

  package let group: Int
  package let level: Int
  package let x: Int
  package let y: Int

  package init(group: Int, level: Int, x: Int, y: Int) {
    self.group = group
    self.level = level
    self.x = x
    self.y = y
  }

  init?(_ reader: inout PathReader) {
    guard reader.skip("TileGroup") else { return nil }
    // A group that is not a number contains no tile.
    var group = reader.number() ?? -1
    if !reader.skip(UInt8(ascii: "/")) {
      guard reader.part(before: UInt8(ascii: "/")) != nil else { return nil }
      group = -1
    }
    guard let (level, x, y) = reader.tile(UInt8(ascii: "-"), UInt8(ascii: "-")) else { return nil }
    self.init(group: group, level: level, x: x, y: y)
  }

  /// Writes the name. Inverse of `init(_:)`.
  package func write(_ text: inout URLWriter, _ format: TileFormat) {
    text.put("TileGroup")
    text.put(group)
    text.put("/")
    text.put(tile: (level, x, y), UInt8(ascii: "-"), UInt8(ascii: "-"), format)
  }
}
