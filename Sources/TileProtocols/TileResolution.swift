package import TileGeometry

/// The place in an image of the tile or picture that a request asks for.
package enum TileResolution: Hashable, Sendable {
  /// The stored tile has exactly the requested pixels; the pyramid may have no tile of that address.
  case stored(TileAddress)
  /// A rectangle of a level (level space, inside the level), at the top left of a tile of that size.
  case crop(PixelRect, level: Int, paddedTo: PixelSize)
  /// A part of the image that is not a tile.
  case picture(Picture)
  case notFound(TileRequestError)
}

/// The reason why a request is refused: the status and one line.
package struct TileRequestError: Error, Hashable, Sendable {
  package let status: Int
  package let reason: String

  package init(_ reason: String, status: Int = 400) {
    self.status = status
    self.reason = reason
  }

  static let noSuchTile = TileRequestError("the pyramid has no such tile", status: 404)
}
