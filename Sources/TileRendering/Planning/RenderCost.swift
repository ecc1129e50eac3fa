import TileGeometry
package import TileStorage
import ZigguratTileProtocols

/// The cost of a render in pixels. A pixel decoded from a JPEG tile counts 1, about 7 ns.
package struct RenderCost: Hashable, Comparable, Sendable {
  package let pixels: Int

  /// The maximum cost. Renders beyond it are refused, so that their differences do not matter.
  private static let maximum = 1 << 40

  package init(pixels: Int) { self.pixels = min(pixels, Self.maximum) }

  package static func < (one: RenderCost, other: RenderCost) -> Bool { one.pixels < other.pixels }

  /// The cost of a render that takes at most a quarter of a second.
  package static let quick = RenderCost(pixels: 32_000_000)
}

extension RenderTask {
  /// Returns the number of decoded pixels, and of encoded pixels times the format's weight.
  package func cost(in archive: TileArchive) -> RenderCost {
    let (decoded, encoded) = pixelCounts(in: archive)
    return RenderCost(pixels: decoded + encoded * format.weight)
  }

  /// Returns the number of decoded pixels, in whole tiles, and of encoded pixels.
  func pixelCounts(in archive: TileArchive) -> (decoded: Int, encoded: Int) {
    var decoded = 0
    if let (level, rectangle) = source(in: archive.pyramid) {
      let read = archive.storedRectangle(rectangle, level: level)
      let side = archive.pyramid.tileSize
      let size = archive.pyramid.size(ofLevel: max(level, archive.coarsestLevel))
      func span(_ start: Int, _ length: Int, _ whole: Int) -> Int {
        min((start + length - 1) / side * side + side, whole) - start / side * side
      }
      decoded = span(read.x, read.width, size.width) * span(read.y, read.height, size.height)
    }
    return (decoded, encodedPixels(in: archive))
  }

  private func encodedPixels(in archive: TileArchive) -> Int {
    switch self {
    case .picture(let picture):
      let box = Rotation(degrees: picture.rotation)
        .bounds(Double(picture.size.width), Double(picture.size.height))
      return Int(box.width * box.height)
    case .viewport(let viewport, let ratio, _):
      return max(1, Int(viewport.width * ratio * viewport.height * ratio))
    case .crop(_, _, let size, _): return size.width * size.height
    case .joined(let rectangle, _): return rectangle.width * rectangle.height
    case .tile(let address, _):
      return archive.pyramid.rectangle(of: address).map { $0.width * $0.height } ?? 0
    }
  }
}
