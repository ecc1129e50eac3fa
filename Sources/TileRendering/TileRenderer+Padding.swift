public import TileGeometry
public import TileStorage

extension TileRenderer {
  /// A rectangle of a level at the top left of a larger picture, the rest in the background's colour.
  /// - Parameters:
  ///   - rectangle: level space, inside the level.
  ///   - size: of the picture; at least that of the rectangle.
  public func render(
    _ rectangle: PixelRect, level: Int, paddedTo size: PixelSize, as format: PictureFormat,
    of archive: SZIArchive, until cancellation: Cancellation = Cancellation()
  ) throws(RenderError) -> [UInt8] {
    let pixels = try pixels(of: rectangle, level: level, of: archive, until: cancellation)
    guard pixels.size != size else { return try encode(pixels, as: format, until: cancellation) }
    precondition(
      size.width >= pixels.width && size.height >= pixels.height, "a picture is not padded to less")
    guard case .interleaved(let bands) = pixels.layout else { preconditionFailure("planes are not padded") }
    let padded = PixelBuffer(size, pixels.layout)
    let background = options.background.map { UInt8(clamping: $0) }
    let gray = UInt8(options.background.reduce(0, +) / 3)
    let color = (bands < 3 ? [gray] : background) + (bands % 2 == 0 ? [255] : [])
    for at in padded.memory.indices { padded.memory[at] = color[at % bands] }
    let (from, to) = (pixels.plane(0), padded.plane(0))
    for row in 0..<pixels.height {
      (to.base + row * to.stride).update(from: from.base + row * from.stride, count: from.stride)
    }
    return try encode(padded, as: format, until: cancellation)
  }
}
