import HTTPMessages
import TileGeometry
import TileStorage

/// XYZ with its TileJSON.
extension Router {
  /// - Parameter segments: what follows `/xyz/`.
  func xyz(_ segments: [String]) -> Answer {
    if segments.last == "tilejson.json", segments.count > 1 {
      let id = segments.dropLast().joined(separator: "/")
      return found(id, problem: false) { archive in
        known(id, problem: false) { entry, _ in
          .json(XYZDescription(id: id, archive: archive, metadata: entry.metadata, base: absoluteBase))
        }
      }
    }
    // Only a tile that is not stored as it is asked for comes here.
    guard segments.count > 3 else { return .text(404, "there is no XYZ file at this path") }
    let id = segments.dropLast(3).joined(separator: "/")
    return found(id, problem: false) { archive in
      let (z, x, file) = (segments[segments.count - 3], segments[segments.count - 2], segments.last!)
      let name = file.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard let z = Self.number(z), let x = Self.number(x), name.count == 2,
        let y = Self.number(String(name[0]))
      else { return .text(404, "a tile is named Z/X/Y.\(archive.format.fileExtension)") }
      let side = archive.pyramid.tileSize
      guard let address = XYZGrid(archive.pyramid).address(z: z, x: x, y: y),
        // The tile without overlap.
        let grid = Pyramid(imageSize: archive.pyramid.imageSize, tileSize: side),
        let rectangle = grid.rectangle(of: address)
      else { return .text(404, "the pyramid has no such tile") }
      return cutTile(
        rectangle, level: address.level, of: archive, ending: String(name[1]),
        paddedTo: PixelSize(width: side, height: side))
    }
  }
}
