import TileGeometry
import TileStorage

/// Creates the missing tiles of another program's pyramid from the existing ones.
struct MissingTiles {
  let decoder: TileDecoder
  let archive: TileArchive
  let codec: TurboJPEG
  let cancellation: Cancellation

  /// The maximum number of stored pixels that are read for one picture: some seconds' work.
  static let pixelLimit = 1 << 28
  /// The side in pixels of the blocks in which a picture is made.
  private static let side = 256

  /// Returns a rectangle of a level that is not stored, by halving the coarsest stored one. A pixel is the mean of
  /// four, as levels are made from each other.
  func shrunk(_ rectangle: PixelRect, level: Int) throws(RenderError) -> PixelBuffer {
    try Self.checkReach(rectangle, level: level, of: archive)
    return try made(rectangle, level)
  }

  static func checkReach(_ rectangle: PixelRect, level: Int, of archive: TileArchive) throws(RenderError) {
    let stored = archive.storedRectangle(rectangle, level: level)
    guard stored.height <= pixelLimit / stored.width else {
      throw RenderError("level \(level) is not stored, and too coarse to be made", isOutOfReach: true)
    }
  }

  private func made(_ rectangle: PixelRect, _ level: Int) throws(RenderError) -> PixelBuffer {
    let composer = TileComposer(
      decoder: decoder, archive: archive, level: level, codec: codec, cancellation: cancellation)
    if level >= archive.coarsestLevel { return try codec.interleaved(composer.pixels(of: rectangle)) }
    guard max(rectangle.width, rectangle.height) > Self.side else {
      let size = archive.pyramid.size(ofLevel: level + 1)
      let (x, y) = (2 * rectangle.x, 2 * rectangle.y)
      let finer = PixelRect(
        x: x, y: y, width: min(2 * rectangle.width, size.width - x),
        height: min(2 * rectangle.height, size.height - y))
      return try made(finer, level + 1).halved()
    }
    var parts: [TileComposer.Part] = []
    for y in stride(from: 0, to: rectangle.height, by: Self.side) {
      for x in stride(from: 0, to: rectangle.width, by: Self.side) {
        let block = PixelRect(
          x: rectangle.x + x, y: rectangle.y + y, width: min(Self.side, rectangle.width - x),
          height: min(Self.side, rectangle.height - y))
        parts.append(TileComposer.Part(pixels: try made(block, level), level: block, inTile: (0, 0)))
      }
    }
    return try composer.interleaved(parts, rectangle)
  }

  /// Returns a tile that was omitted because it is blank: the same place of the next coarser level. If there is no such
  /// level, it is white, the background of `vips dzsave`.
  func blank(_ rectangle: PixelRect, level: Int) throws(RenderError) -> PixelBuffer {
    let size = PixelSize(width: rectangle.width, height: rectangle.height)!
    guard level > archive.coarsestLevel else {
      let white = PixelBuffer(size, .interleaved(.rgb))
      white.memory.initialize(repeating: 255)
      return white
    }
    let (x, y) = (rectangle.x >> 1, rectangle.y >> 1)
    let coarser = PixelRect(
      x: x, y: y, width: (rectangle.x + rectangle.width - 1) >> 1 - x + 1,
      height: (rectangle.y + rectangle.height - 1) >> 1 - y + 1)
    let composer = TileComposer(
      decoder: decoder, archive: archive, level: level - 1, codec: codec, cancellation: cancellation)
    let pixels = try codec.interleaved(composer.pixels(of: coarser))
    // The memory is read until the end.
    defer { withExtendedLifetime(pixels) {} }
    let source = pixels.plane(0)
    let result = PixelBuffer(size, pixels.layout)
    let target = result.plane(0)
    for row in 0..<size.height {
      let from = source.base + ((rectangle.y + row) >> 1 - y) * source.stride
      let to = target.base + row * target.stride
      for column in 0..<size.width {
        (to + column * target.step).update(
          from: from + ((rectangle.x + column) >> 1 - x) * source.step, count: source.step)
      }
    }
    return result
  }
}

extension TileArchive {
  /// Returns the rectangle of the coarsest stored level that contains a rectangle of a level that may be coarser still.
  func storedRectangle(_ rectangle: PixelRect, level: Int) -> PixelRect {
    let shift = max(0, coarsestLevel - level)
    let size = pyramid.size(ofLevel: level + shift)
    let (x, y) = (rectangle.x << shift, rectangle.y << shift)
    return PixelRect(
      x: x, y: y, width: min(rectangle.width << shift, size.width - x),
      height: min(rectangle.height << shift, size.height - y))
  }
}

extension PixelBuffer {
  /// Returns the pixels at half the size, rounded up. Each is the mean of up to four, weighted by alpha.
  func halved() -> PixelBuffer {
    defer { withExtendedLifetime(self) {} }
    let half = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)!
    let result = PixelBuffer(half, layout)
    let (source, target) = (plane(0), result.plane(0))
    let bands = source.step
    let alpha = bands % 2 == 0 ? bands - 1 : nil
    for row in 0..<half.height {
      let first = source.base + 2 * row * source.stride
      let second = source.base + min(2 * row + 1, height - 1) * source.stride
      let to = target.base + row * target.stride
      for column in 0..<half.width {
        let (left, right) = (2 * column * bands, min(2 * column + 1, width - 1) * bands)
        func sum(_ band: Int, weight: Int?) -> Int {
          func of(_ row: UnsafeMutablePointer<UInt8>, _ at: Int) -> Int {
            Int(row[at + band]) * (weight.map { Int(row[at + $0]) } ?? 1)
          }
          return of(first, left) + of(first, right) + of(second, left) + of(second, right)
        }
        let opacity = alpha.map { sum($0, weight: nil) }
        for band in 0..<bands {
          let isColor = band != alpha
          let count = isColor ? opacity ?? 4 : 4
          let total = sum(band, weight: isColor ? alpha : nil)
          to[column * bands + band] = count == 0 ? 0 : UInt8((total + count / 2) / count)
        }
      }
    }
    return result
  }
}
