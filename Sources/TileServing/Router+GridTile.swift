import TileGeometry
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
  ) -> Response {
    guard let format = PictureFormat(fileExtension: ending == "jpeg" ? "jpg" : ending),
      let own = PixelSize(width: rectangle.width, height: rectangle.height)
    else {
      let endings = PictureFormat.all.map(\.fileExtension).joined(separator: ", ")
      return .text(404, "tiles can be had as \(endings)")
    }
    let size = size ?? own
    do throws(RenderError) {
      let bytes = try site.renderer.render(rectangle, level: level, paddedTo: size, as: format, of: archive)
      let generation = String(archive.generation, radix: 16)
      let isPinned = request.rawQuery.contains {
        $0.name.elementsEqual("g".utf8) && $0.value.elementsEqual(generation.utf8)
      }
      let name =
        "\(level)/\(rectangle.x),\(rectangle.y),\(rectangle.width),\(rectangle.height)/"
        + "\(size.width),\(size.height).\(format.fileExtension)"
      return Response(
        200,
        [
          ("Content-Type", format.mediaType),
          ("ETag", EntityTag(of: Array(name.utf8), generation: archive.generation).text),
          ("Cache-Control", isPinned ? "public, max-age=31536000, immutable" : "public, no-cache"),
          Response.anyOrigin,
        ], .bytes(bytes))
    } catch {
      return .text(500, "the tile cannot be read from its archive")
    }
  }
}
