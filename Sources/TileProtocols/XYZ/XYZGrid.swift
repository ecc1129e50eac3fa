package import TileGeometry
package import TileStorage

/// An image's tiles as XYZ counts them: z 0 is the finest level that one tile holds.
///
/// Maps expect tiles of one size, so tiles at the right and lower edges are padded: transparent, or in formats without
/// alpha in the background's colour. Each tile has a second name without padding. It is part of the path, because shared
/// caches ignore the query of a tile but for its version.
package struct XYZGrid {
  package let pyramid: Pyramid
  /// The pyramid's level that is z 0.
  package let baseLevel: Int

  package init(_ pyramid: Pyramid) {
    self.pyramid = pyramid
    baseLevel = pyramid.finestSingleTileLevel
  }

  package var maximumZ: Int { pyramid.topLevel - baseLevel }

  package func tile(_ address: TileAddress, isPadded: Bool = true) -> XYZTile {
    XYZTile(z: address.level - baseLevel, x: address.column, y: address.row, isPadded: isPadded)
  }

  /// Where the tile lies; the level's own pixels of it are at its top left.
  ///
  /// One of twice the pixels is of the next level. The finest level has none, and is answered as it is: browsers scale
  /// a tile to its place.
  func place(of tile: XYZTile) -> TilePlace {
    guard tile.z <= maximumZ else { return .nowhere(.noSuchTile) }
    let plain = TileAddress(level: baseLevel + tile.z, column: tile.x, row: tile.y)
    guard pyramid.contains(plain) else { return .nowhere(.noSuchTile) }
    let isDouble = tile.isDouble && tile.z < maximumZ
    let address = isDouble ? TileAddress(level: plain.level + 1, column: 0, row: 0) : plain
    let (size, side) = (pyramid.size(ofLevel: address.level), pyramid.tileSize * (isDouble ? 2 : 1))
    let (x, y) = (tile.x * side, tile.y * side)
    let (width, height) = (min(side, size.width - x), min(side, size.height - y))
    let rectangle = PixelRect(x: x, y: y, width: width, height: height)
    let needsPadding = tile.isPadded && (width < side || height < side)
    // A stored tile has these pixels if it has no overlap.
    if pyramid.overlap == 0, !needsPadding, !isDouble { return .stored(address) }
    let padded =
      needsPadding ? PixelSize(width: side, height: side) : PixelSize(width: width, height: height)
    return .cut(rectangle, level: address.level, paddedTo: padded!)
  }
}

/// A tile's name as XYZ has it: `{z}/{x}/{y}.`, and the ending. In front of the point, `@2x` stands for twice the pixels,
/// `@unpadded` for no padding.
package struct XYZTile: Hashable, Sendable {
  package let z: Int
  package let x: Int
  package let y: Int
  /// Whether it is to have twice the pixels along a side, for screens of two device pixels a CSS pixel.
  package let isDouble: Bool
  /// Whether a tile at the right or lower edge is padded to full size.
  package let isPadded: Bool

  package init(z: Int, x: Int, y: Int, isDouble: Bool = false, isPadded: Bool = true) {
    self.z = z
    self.x = x
    self.y = y
    self.isDouble = isDouble
    self.isPadded = isPadded
  }

  init?(_ reader: inout PathReader) {
    let slash = UInt8(ascii: "/")
    guard let z = reader.number(), reader.skip(slash), let x = reader.number(), reader.skip(slash),
      let y = reader.number()
    else { return nil }
    let isPlain = reader.skip(UInt8(ascii: "."))
    let isDouble = !isPlain && reader.skip("@2x.")
    guard isPlain || isDouble || reader.skip("@unpadded.") else { return nil }
    self.init(z: z, x: x, y: y, isDouble: isDouble, isPadded: isPlain || isDouble)
  }

  /// Inverse of `init(_:)`.
  package func write(_ text: inout PathText, _ format: TileFormat) {
    let slash = UInt8(ascii: "/")
    text.put(tile: (z, x, y), slash, slash, variant: isDouble ? "@2x" : isPadded ? "" : "@unpadded", format)
  }

  /// The same for whoever puts the numbers in.
  package static func template(ending: String, isDouble: Bool = false) -> String {
    "{z}/{x}/{y}\(isDouble ? "@2x" : "").\(ending)"
  }
}
