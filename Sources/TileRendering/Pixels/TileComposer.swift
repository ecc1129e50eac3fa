import TileGeometry
import TileStorage
import ZigguratImaging

/// A composer of tiles to the pixels of a rectangle of one level.
struct TileComposer {
  let decoder: TileDecoder
  let archive: TileArchive
  let level: Int
  let codec: TurboJPEG
  let cancellation: Cancellation

  /// Returns the pixels of a rectangle. Only the tiles that it touches are decoded.
  ///
  /// - Parameter rectangle: level space, inside the level.
  func pixels(of rectangle: PixelRect) throws(RenderError) -> PixelBuffer {
    if level < archive.coarsestLevel { try MissingTiles.checkReach(rectangle, level: level, of: archive) }
    let tiles = try tiles(in: rectangle)
    if tiles.allSatisfy({ $0.pixels.layout == .planar420 }) {
      return planar(tiles, rectangle, PixelSize(width: rectangle.width, height: rectangle.height)!)
    }
    return try interleaved(tiles, rectangle)
  }

  /// Returns the parts of a rectangle in one layout for all of them.
  func interleaved(_ tiles: [Part], _ rectangle: PixelRect) throws(RenderError) -> PixelBuffer {
    let size = PixelSize(width: rectangle.width, height: rectangle.height)!
    var (hasColor, hasAlpha) = (false, false)
    var interleaved: [Part] = []
    for tile in tiles {
      let pixels = try codec.interleaved(tile.pixels)
      hasColor = hasColor || !pixels.layout.bands.isGray
      hasAlpha = hasAlpha || pixels.layout.hasAlpha
      interleaved.append(Part(pixels: pixels, level: tile.level, inTile: tile.inTile))
    }
    let bands = PixelBands(isGray: !hasColor, hasAlpha: hasAlpha)
    let result = PixelBuffer(size, .interleaved(bands))
    for part in interleaved { copy(part, to: result, bands.count, rectangle) }
    return result
  }

  /// The required part of one tile.
  struct Part {
    let pixels: PixelBuffer
    /// Level space.
    let level: PixelRect
    /// Its top-left pixel within the tile.
    let inTile: (x: Int, y: Int)
  }

  private func tiles(in rectangle: PixelRect) throws(RenderError) -> [Part] {
    let pyramid = archive.pyramid
    let side = pyramid.tileSize
    var parts: [Part] = []
    for row in rectangle.y / side...(rectangle.y + rectangle.height - 1) / side {
      for column in rectangle.x / side...(rectangle.x + rectangle.width - 1) / side {
        let address = TileAddress(level: level, column: column, row: row)
        let pixels = try decoder.pixels(of: archive, address, planar: pyramid.isEven, codec, cancellation)
        let (left, top) = (max(rectangle.x, column * side), max(rectangle.y, row * side))
        let right = min(rectangle.x + rectangle.width, (column + 1) * side)
        let bottom = min(rectangle.y + rectangle.height, (row + 1) * side)
        parts.append(
          Part(
            pixels: pixels, level: PixelRect(x: left, y: top, width: right - left, height: bottom - top),
            inTile: (
              left - column * side + (column > 0 ? pyramid.overlap : 0),
              top - row * side + (row > 0 ? pyramid.overlap : 0)
            )))
      }
    }
    return parts
  }

  private func copy(_ part: Part, to result: PixelBuffer, _ bands: Int, _ rectangle: PixelRect) {
    let (source, target) = (part.pixels.plane(0), result.plane(0))
    for row in 0..<part.level.height {
      let from = source.base + (part.inTile.y + row) * source.stride + part.inTile.x * source.step
      let to =
        target.base + (part.level.y - rectangle.y + row) * target.stride
        + (part.level.x - rectangle.x) * bands
      if source.step == bands {
        to.update(from: from, count: part.level.width * bands)
      } else {
        widen(from, source.step, to, bands, part.level.width)
      }
    }
  }

  /// Converts gray to colour, and pixels without alpha to opaque ones.
  private func widen(
    _ from: UnsafePointer<UInt8>, _ few: Int, _ to: UnsafeMutablePointer<UInt8>, _ many: Int, _ count: Int
  ) {
    let alpha = few % 2 == 0 ? few - 1 : nil
    for pixel in 0..<count {
      let (source, target) = (from + pixel * few, to + pixel * many)
      for band in 0..<(many - 1 + many % 2) { target[band] = source[few < 3 ? 0 : band] }
      if many % 2 == 0 { target[many - 1] = alpha.map { source[$0] } ?? 255 }
    }
  }

  // MARK: Y, Cb, Cr

  private func planar(_ parts: [Part], _ rectangle: PixelRect, _ size: PixelSize) -> PixelBuffer {
    let result = PixelBuffer(size, .planar420)
    let luma = result.plane(0)
    for part in parts {
      copyRows(
        part.pixels.plane(0), part.inTile.x, part.inTile.y, to: luma, part.level.x - rectangle.x,
        part.level.y - rectangle.y, part.level.width, part.level.height)
    }
    result.repeatOddEdges()
    let (left, top) = (rectangle.x / 2, rectangle.y / 2)
    let columns = (rectangle.x + rectangle.width - 1) / 2 - left + 1
    let rows = (rectangle.y + rectangle.height - 1) / 2 - top + 1
    let isShifted = rectangle.x % 2 == 1 || rectangle.y % 2 == 1
    let between =
      isShifted ? PixelBuffer(PixelSize(width: columns, height: rows)!, .interleaved(.gray)) : nil
    for number in 1...2 {
      let target = result.plane(number)
      let aligned = between?.plane(0) ?? target
      for part in parts {
        let (x, y) = (part.level.x / 2, part.level.y / 2)
        copyRows(
          part.pixels.plane(number), part.inTile.x / 2, part.inTile.y / 2, to: aligned, x - left, y - top,
          (part.level.x + part.level.width - 1) / 2 - x + 1,
          (part.level.y + part.level.height - 1) / 2 - y + 1)
      }
      if isShifted {
        shift(aligned, columns, rows, to: target, byX: rectangle.x % 2 == 1, byY: rectangle.y % 2 == 1)
      }
    }
    return result
  }

  private func copyRows(
    _ source: PixelBuffer.Plane, _ x: Int, _ y: Int, to target: PixelBuffer.Plane, _ toX: Int, _ toY: Int,
    _ width: Int, _ height: Int
  ) {
    for row in 0..<height {
      (target.base + (toY + row) * target.stride + toX)
        .update(from: source.base + (y + row) * source.stride + x, count: width)
    }
  }

  /// Shifts chroma by half a sample, as the mean of two, for a rectangle that begins at an odd pixel.
  private func shift(
    _ source: PixelBuffer.Plane, _ columns: Int, _ rows: Int, to target: PixelBuffer.Plane, byX: Bool,
    byY: Bool
  ) {
    for row in 0..<target.rows {
      let first = source.base + min(row, rows - 1) * source.stride
      let second = source.base + min(byY ? row + 1 : row, rows - 1) * source.stride
      let to = target.base + row * target.stride
      let step = byX ? 1 : 0
      let whole = min(target.stride, columns - step)
      for column in 0..<max(whole, 0) {
        let sum =
          UInt16(first[column]) &+ UInt16(first[column &+ step])
          &+ UInt16(second[column]) &+ UInt16(second[column &+ step])
        to[column] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
      }
      for column in max(whole, 0)..<target.stride {
        let last = columns - 1
        to[column] = UInt8((Int(first[last]) + Int(second[last]) + 1) / 2)
      }
    }
  }
}

extension Pyramid {
  /// Whether every tile begins at an even pixel: only there does chroma of half resolution fit.
  var isEven: Bool { tileSize % 2 == 0 && overlap % 2 == 0 }
}
