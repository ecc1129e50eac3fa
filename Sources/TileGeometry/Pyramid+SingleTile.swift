extension Pyramid {
  /// The finest level that one tile holds whole: z 0 of XYZ, level 0 of Zoomify.
  public var finestSingleTileLevel: Int {
    let tiles = Self.tiles(max(imageSize.width, imageSize.height), tileSize)
    // Halvings until one tile is enough: the bits of the last tile's number.
    return topLevel - (Int.bitWidth - (tiles - 1).leadingZeroBitCount)
  }
}
