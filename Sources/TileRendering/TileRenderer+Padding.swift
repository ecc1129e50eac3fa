package import TileGeometry
package import TileProtocols
package import TileStorage

extension TileRenderer {
  /// A rectangle of a level at the top left of a larger picture, the rest in the background's colour.
  /// - Parameters:
  ///   - rectangle: level space, inside the level.
  ///   - size: of the picture; at least that of the rectangle.
  package func render(
    _ rectangle: PixelRect, level: Int, paddedTo size: PixelSize, as format: PictureFormat,
    of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    let pixels = try pixels(of: rectangle, level: level, of: archive, until: cancellation)
    guard pixels.size != size else { return try encode(pixels, as: format, until: cancellation) }
    let padded = pixels.padded(to: size, with: options.background)
    return try encode(padded, as: format, until: cancellation)
  }
}
