package import TileGeometry
package import TileStorage
package import ZigguratTileProtocols

extension TileRenderer {
  /// Renders a rectangle of a level at the top left of a larger picture. The rest is transparent, or in formats without
  /// alpha in the background's colour.
  /// - Parameters:
  ///   - rectangle: level space, inside the level.
  ///   - size: the size of the picture in pixels; at least that of the rectangle.
  package func render(
    _ rectangle: PixelRect, level: Int, paddedTo size: PixelSize, as format: PictureFormat,
    of archive: TileArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    let pixels = try pixels(of: rectangle, level: level, of: archive, until: cancellation)
    guard pixels.size != size else { return try encode(pixels, as: format, until: cancellation) }
    let padded = padded(pixels, to: size, isClear: format.keepsAlpha)
    return try encode(padded, as: format, until: cancellation)
  }

  private func padded(
    _ pixels: PixelBuffer, to size: PixelSize, isClear: Bool
  ) -> PixelBuffer {
    guard isClear else { return pixels.padded(to: size, with: options.background) }
    return pixels.withAlpha.padded(to: size, with: options.background, alpha: 0)
  }
}
