import TileGeometry

/// An image's tiles as Zoomify counts them: 256 pixels along a side, level 0 fits one tile, and levels are
/// halved rounding down, as Zoomify's own viewer and OpenSeadragon reckon.
///
/// Stored levels are rounded up: a tile is the same place of the stored level, less the last column or row
/// of pixels where those differ.
struct ZoomifyGrid {
  static let tileSize = 256

  let pyramid: Pyramid
  let maximumLevel: Int

  init(_ pyramid: Pyramid) {
    self.pyramid = pyramid
    var (side, level) = (max(pyramid.imageSize.width, pyramid.imageSize.height), 0)
    while side > Self.tileSize {
      side >>= 1
      level += 1
    }
    maximumLevel = level
  }

  /// Level pixels, 0 along a side that was halved away.
  func size(ofLevel level: Int) -> (width: Int, height: Int) {
    let shift = maximumLevel - level
    return (pyramid.imageSize.width >> shift, pyramid.imageSize.height >> shift)
  }

  func columns(ofLevel level: Int) -> Int { (size(ofLevel: level).width + Self.tileSize - 1) / Self.tileSize }

  func rows(ofLevel level: Int) -> Int { (size(ofLevel: level).height + Self.tileSize - 1) / Self.tileSize }

  var tileCount: Int { (0...maximumLevel).reduce(0) { $0 + columns(ofLevel: $1) * rows(ofLevel: $1) } }

  /// Which of the folders of 256 tiles a tile is in; nil outside the grid.
  func group(level: Int, x: Int, y: Int) -> Int? {
    guard level >= 0, level <= maximumLevel, x >= 0, x < columns(ofLevel: level), y >= 0,
      y < rows(ofLevel: level)
    else { return nil }
    var index = y * columns(ofLevel: level) + x
    for lower in 0..<level { index += columns(ofLevel: lower) * rows(ofLevel: lower) }
    return index / 256
  }

  /// The pyramid's level of the same scale.
  func pyramidLevel(_ level: Int) -> Int { pyramid.topLevel - (maximumLevel - level) }

  /// Level space; the tile is in the grid.
  func rectangle(level: Int, x: Int, y: Int) -> PixelRect {
    let (width, height) = size(ofLevel: level)
    let (left, top) = (x * Self.tileSize, y * Self.tileSize)
    return PixelRect(
      x: left, y: top, width: min(Self.tileSize, width - left), height: min(Self.tileSize, height - top))
  }

  /// The stored tile that is the very tile asked for.
  func storedAddress(group: Int, level: Int, x: Int, y: Int) -> TileAddress? {
    guard pyramid.tileSize == Self.tileSize, pyramid.overlap == 0,
      self.group(level: level, x: x, y: y) == group
    else { return nil }
    let address = TileAddress(level: pyramidLevel(level), column: x, row: y)
    return pyramid.rectangle(of: address) == rectangle(level: level, x: x, y: y) ? address : nil
  }

  /// `ImageProperties.xml`
  var xml: String {
    let size = pyramid.imageSize
    return """
      <IMAGE_PROPERTIES WIDTH="\(size.width)" HEIGHT="\(size.height)" NUMTILES="\(tileCount)" \
      NUMIMAGES="1" VERSION="1.8" TILESIZE="\(Self.tileSize)"/>

      """
  }
}

/// A Zoomify tile's URL taken apart without making a string:
/// `/zoomify/{id}/TileGroup{n}/{level}-{x}-{y}.jpg`.
struct ZoomifyRequest {
  /// As sent, percent-encoded.
  let id: UnsafeRawBufferPointer
  let group: Int
  let level: Int
  let x: Int
  let y: Int
  let fileExtension: UnsafeRawBufferPointer

  /// Nil for any other path.
  init?(_ path: UnsafeRawBufferPointer) {
    guard path.count > 24, path.starts(with: Self.root),
      let dot = TileRequest.last(UInt8(ascii: "."), in: path, before: path.count)
    else { return nil }
    // From the end, since an id may hold slashes.
    var at = dot
    guard let y = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "-")),
      let x = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "-")),
      let level = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "/")),
      let group = TileRequest.number(path, endingAt: &at, after: UInt8(ascii: "p"))
    else { return nil }
    let idEnd = at + 1 - Self.folder.utf8CodeUnitCount
    guard idEnd > Self.root.utf8CodeUnitCount, path[idEnd...at].elementsEqual(Self.folder) else { return nil }
    (self.group, self.level, self.x, self.y) = (group, level, x, y)
    fileExtension = UnsafeRawBufferPointer(rebasing: path[(dot + 1)...])
    id = UnsafeRawBufferPointer(rebasing: path[Self.root.utf8CodeUnitCount..<idEnd])
  }

  private static let root: StaticString = "/zoomify/"
  private static let folder: StaticString = "/TileGroup"
}
