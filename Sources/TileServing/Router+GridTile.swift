import TileGeometry
import TileRendering
import TileStorage

/// Tiles of the grid without overlap that are not stored as they are asked for.
extension Router {
  /// - Parameters:
  ///   - ending: of the file that is asked for, which chooses the format.
  ///   - padded: to full size with the background.
  func gridTile(
    _ address: TileAddress, of archive: SZIArchive, ending: String, padded: Bool
  ) -> Response {
    let pyramid = archive.pyramid
    guard let format = PictureFormat(fileExtension: ending == "jpeg" ? "jpg" : ending),
      let grid = Pyramid(imageSize: pyramid.imageSize, tileSize: pyramid.tileSize),
      let rectangle = grid.rectangle(of: address),
      let side = PixelSize(width: grid.tileSize, height: grid.tileSize),
      let size = padded ? side : PixelSize(width: rectangle.width, height: rectangle.height)
    else {
      let endings = PictureFormat.all.map(\.fileExtension).joined(separator: ", ")
      return .text(404, "tiles can be had as \(endings)")
    }
    do throws(RenderError) {
      let bytes = try site.renderer.render(
        rectangle, level: address.level, paddedTo: size, as: format, of: archive)
      let number = String(grid.index(of: address) ?? 0, radix: 16)
      let generation = String(archive.generation, radix: 16)
      let isPinned = request.rawQuery.contains {
        $0.name.elementsEqual("g".utf8) && $0.value.elementsEqual(generation.utf8)
      }
      return Response(
        200,
        [
          ("Content-Type", format.mediaType),
          ("ETag", EntityTag("\(generation)-\(number).\(format.fileExtension)").text),
          ("Cache-Control", isPinned ? "public, max-age=31536000, immutable" : "public, no-cache"),
          Response.anyOrigin,
        ], .bytes(bytes))
    } catch {
      return .text(500, "the tile cannot be read from its archive")
    }
  }
}
