package import TileGeometry
package import TileStorage

/// Names of tiles as viewers request them: region, size, rotation, quality and format.
package enum IIIFTileName {
  /// Writes the name that a viewer derives from info.json: the region of the whole image is `full`. At full size, the
  /// size is `max` (version 3) or `full` (version 2).
  /// - Parameter source: the tile's pixels, level space.
  package static func write(
    _ source: PixelRect, level: Int, of pyramid: Pyramid, _ version: IIIFVersion, _ format: TileFormat,
    _ text: inout URLWriter
  ) {
    let region = IIIFGrid.region(of: source, level: level, in: pyramid)
    let isWhole = region.width == pyramid.imageSize.width && region.height == pyramid.imageSize.height
    let isAsItIs = isWhole && level == pyramid.topLevel
    write(region: isWhole ? nil : region, &text)
    if isAsItIs {
      text.put(version == .three ? "max" : "full")
    } else {
      text.put(size: source.width, source.height)
    }
    writeEnd(format, &text)
  }

  /// Writes the name with every number in it.
  package static func write(
    numbersOf source: PixelRect, level: Int, of pyramid: Pyramid, _ format: TileFormat,
    _ text: inout URLWriter
  ) {
    write(region: IIIFGrid.region(of: source, level: level, in: pyramid), &text)
    text.put(size: source.width, source.height)
    writeEnd(format, &text)
  }

  /// Writes the name of the whole image.
  /// - Parameter size: of the picture, in pixels; nil for the image's own.
  package static func write(wholeAs size: PixelSize?, _ format: TileFormat, _ text: inout URLWriter) {
    write(region: nil, &text)
    if let size { text.put(size: size.width, size.height) } else { text.put("max") }
    writeEnd(format, &text)
  }

  private static func write(region: PixelRect?, _ text: inout URLWriter) {
    if let region { text.put(region: region) } else { text.put("full") }
    text.put("/")
  }

  private static func writeEnd(_ format: TileFormat, _ text: inout URLWriter) {
    text.put("/0/default.")
    text.put(format.ending)
  }
}
