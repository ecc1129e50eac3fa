package import TileGeometry
package import TileStorage

/// An image's tiles in XYZ: z 0 is the finest level that fits in one tile.
///
/// Maps expect tiles of one size, so tiles at the right and lower edges are padded. The padding is transparent, or the
/// background's colour in formats without alpha. Each tile has a second name without padding. It is part of the path,
/// because shared caches ignore the query of a tile except its version.
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

  /// Returns the place of a tile. The level's own pixels are at the tile's top left.
  ///
  /// A tile of twice the pixels is cut from the next level. The finest level has no next one, so that its tiles keep
  /// their size: browsers scale a tile to its place.
  func place(of tile: XYZTile) -> TileResolution {
    guard tile.z <= maximumZ else { return .notFound(.noSuchTile) }
    let plain = TileAddress(level: baseLevel + tile.z, column: tile.x, row: tile.y)
    guard pyramid.contains(plain) else { return .notFound(.noSuchTile) }
    let isDouble = tile.isDouble && tile.z < maximumZ
    let address = isDouble ? TileAddress(level: plain.level + 1, column: 0, row: 0) : plain
    let (size, side) = (pyramid.size(ofLevel: address.level), pyramid.tileSize * (isDouble ? 2 : 1))
    let (x, y) = (tile.x * side, tile.y * side)
    let (width, height) = (min(side, size.width - x), min(side, size.height - y))
    let rectangle = PixelRect(x: x, y: y, width: width, height: height)
    let needsPadding = tile.isPadded && (width < side || height < side)
    // Without overlap, a stored tile has exactly these pixels.
    if pyramid.overlap == 0, !needsPadding, !isDouble { return .stored(address) }
    let padded =
      needsPadding ? PixelSize(width: side, height: side) : PixelSize(width: width, height: height)
    return .crop(rectangle, level: address.level, paddedTo: padded!)
  }
}

/// A tile's name in XYZ: `{z}/{x}/{y}.`, and the file name extension. Before the point, `@2x` means twice the pixels,
/// `@unpadded` no padding.
package struct XYZTile: Hashable, Sendable {
  package let z: Int
  package let x: Int
  package let y: Int
  /// Whether the tile has twice the pixels along a side, for screens of two device pixels a CSS pixel.
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

  /// Writes the name. Inverse of `init(_:)`.
  package func write(_ text: inout URLWriter, _ format: TileFormat) {
    let slash = UInt8(ascii: "/")
    text.put(tile: (z, x, y), slash, slash, variant: isDouble ? "@2x" : isPadded ? "" : "@unpadded", format)
  }

  /// Returns the name with placeholders for the numbers.
  package static func template(ending: String, isDouble: Bool = false) -> String {
    "{z}/{x}/{y}\(isDouble ? "@2x" : "").\(ending)"
  }
}
