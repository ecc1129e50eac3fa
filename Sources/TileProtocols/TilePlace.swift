package import TileGeometry

/// Where what a request asks for lies in an image.
package enum TilePlace: Hashable, Sendable {
  /// The stored tile is the very tile asked for; the pyramid may have none of that address.
  case stored(TileAddress)
  /// A rectangle of a level (level space, inside the level), at the top left of a tile of that size.
  case cut(PixelRect, level: Int, paddedTo: PixelSize)
  /// A part of the image that is no tile.
  case picture(Picture)
  case nowhere(TileRefusal)
}

/// Why a request cannot be answered: the status and one line.
package struct TileRefusal: Error, Hashable, Sendable {
  package let status: Int
  package let reason: String

  package init(_ reason: String, status: Int = 400) { (self.status, self.reason) = (status, reason) }

  static let noSuchTile = TileRefusal("the pyramid has no such tile", status: 404)
}
