extension Pyramid {
  /// The finest level that consists of a single tile: z 0 of XYZ, tier 0 of Zoomify.
  public var finestSingleTileLevel: Int {
    let tiles = Self.tiles(max(imageSize.width, imageSize.height), tileSize)
    // The halvings that reduce the tiles of the longer side to one: the bits of the last tile's number.
    return topLevel - (Int.bitWidth - (tiles - 1).leadingZeroBitCount)
  }
}
