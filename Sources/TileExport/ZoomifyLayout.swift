import TileGeometry

/// `ImageProperties.xml` and `TileGroupN/LEVEL-COLUMN-ROW.jpg`, as `vips dzsave --layout zoomify`: levels are
/// halved rounding up.
struct ZoomifyLayout: StaticLayout {
  let pyramid: Pyramid

  func names(of tile: TileAddress) -> [String] {
    // Groups of 256 in the order of the tiles, beginning at the level that is one tile.
    let number = pyramid.index(of: tile)! - pyramid.firstIndex(ofLevel: firstLevel)
    return ["TileGroup\(number / 256)/\(tile.level - firstLevel)-\(tile.column)-\(tile.row).jpg"]
  }

  var documents: [(name: String, text: String)] {
    let (size, count) = (pyramid.imageSize, pyramid.tileCount - pyramid.firstIndex(ofLevel: firstLevel))
    return [
      (
        "ImageProperties.xml",
        "<IMAGE_PROPERTIES WIDTH=\"\(size.width)\" HEIGHT=\"\(size.height)\" NUMTILES=\"\(count)\" "
          + "NUMIMAGES=\"1\" VERSION=\"1.8\" TILESIZE=\"\(pyramid.tileSize)\" />\n"
      )
    ]
  }
}
