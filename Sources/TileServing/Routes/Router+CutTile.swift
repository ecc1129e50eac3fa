import HTTPMessages
import TileGeometry
import TileProtocols
import TileRendering
import TileStorage

/// Tiles that are not stored as they are asked for.
extension Router {
  /// - Parameters:
  ///   - rectangle: level space, inside the level.
  ///   - ending: of the file that is asked for, which chooses the format.
  ///   - size: what the tile is padded to with the background; nil for its own.
  func cutTile(
    _ rectangle: PixelRect, level: Int, of archive: SZIArchive, ending: String,
    paddedTo size: PixelSize? = nil
  ) -> Answer {
    guard let format = PictureFormat(fileExtension: ending == "jpeg" ? "jpg" : ending),
      let own = PixelSize(width: rectangle.width, height: rectangle.height)
    else {
      let endings = PictureFormat.allCases.map(\.fileExtension).joined(separator: ", ")
      return .text(404, "tiles can be had as \(endings)")
    }
    let size = size ?? own
    return rendering(
      "cut \(level)/\(rectangle.x),\(rectangle.y),\(rectangle.width),\(rectangle.height)/"
        + "\(size.width),\(size.height).\(format.fileExtension)",
      .cut(rectangle, level: level, paddedTo: size, format), archive,
      failure: .text(500, "the tile cannot be read from its archive"))
  }
}
