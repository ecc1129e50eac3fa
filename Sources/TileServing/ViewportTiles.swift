import TileGeometry
import TileStorage

/// A viewport's coverage and its tiles in one answer: the JSON of `ViewportAnswer`, then each of its tiles'
/// bytes in the same order, every part behind its length in 4 bytes, big-endian.
enum ViewportTiles {
  static let mediaType = "application/vnd.ziggurat.viewport-tiles"

  static func response(_ answer: ViewportAnswer, _ archive: SZIArchive) -> Response {
    let tiles = answer.tiles
    let json = answer.json(of: tiles)
    var parts: [UnsafeRawBufferPointer] = []
    parts.reserveCapacity(tiles.count)
    for tile in tiles {
      let address = tile.address
      guard
        let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
        let bytes = archive.tile(number)
      else { return .problem(500, "Unreadable", "a tile cannot be read from its archive") }
      parts.append(bytes)
    }
    // The JSON names the archive's generation in every tile's URL, so its tag stands for the tiles, too.
    var response = Response.json(json)
    response.headers[0] = ("Content-Type", mediaType)
    response.headers[1] = ("ETag", EntityTag(of: json, generation: archive.generation).text)
    let bytes = GatheredBytes(first: json, parts: parts, of: archive)
    response.body = .gathered(bytes, 0..<bytes.count)
    return response
  }
}
