import PyramidBuilding
import TileGeometry
import TileStorage

// Tile a photograph: the archive appears when it is complete.
let builder = PyramidBuilder(threads: 4)
let report = try await builder.build("photo.jpg", to: "photo.szi", name: "photo")
print(report.pyramid.levelCount, "levels,", report.pyramid.tileCount, "tiles")

// Fit it into a window, zoom in about the window's middle, and read the tiles that are then visible.
let archive = try TileArchive(path: "photo.szi")
let window = Viewport(fitting: archive.pyramid.imageSize, .contain, width: 1280, height: 800)
let closer = window.scaled(to: window.scale * 2)
for tile in Coverage(pyramid: archive.pyramid, viewport: closer).tiles() {
  let address = tile.address
  if let bytes = try archive.tile(at: address) {
    print(address.level, address.column, address.row, bytes.count, "bytes at", tile.target.x, tile.target.y)
  }
}
