import TileGeometry
package import TileStorage

/// What a render takes, in pixels: one that is decoded from a JPEG tile counts 1, about 7 ns.
package struct RenderCost: Hashable, Comparable, Sendable {
  package let pixels: Int

  package init(pixels: Int) { self.pixels = pixels }

  package static func < (one: RenderCost, other: RenderCost) -> Bool { one.pixels < other.pixels }

  /// What a quarter of a second is enough for.
  package static let quick = RenderCost(pixels: 32_000_000)
}

extension PictureFormat {
  /// What encoding a pixel takes.
  ///
  /// | format | clean | noisy | weight |
  /// |---|---|---|---|
  /// | jpg, Q 80 | 0.07 | 0.08 | 1 |
  /// | webp, Q 80, effort 0 | 0.19 | 0.40 | 4 |
  /// | avif, Q 80, effort 0 | 0.52 | 1.3 | 8 |
  /// | png | 0.55 | 1.6 | 10 |
  /// | tif, deflate | 0.72 | 2.9 | 18 |
  /// | gif | 1.9 | 3.5 | 26 |
  ///
  /// Seconds of processor time of libvips 8.14's savers (`VIPS_CONCURRENCY=1`, `/usr/bin/time`) for 14 megapixels
  /// of photographs, and of the same with noise (sigma 6) added; decoding their JPEG takes 0.1.
  var weight: Int {
    switch self {
    case .jpg: 1
    case .webp: 4
    case .avif: 8
    case .png: 10
    case .tif: 18
    default: 26
    }
  }

  /// How many pixels of the format may be asked for where `pixels` are allowed: all of them in the formats that
  /// every IIIF server has to have and in those that cost no more, less in others.
  package func limit(_ pixels: Int) -> Int {
    let dearest = max(Self.jpg.weight, Self.png.weight)
    return weight <= dearest ? pixels : pixels / weight * dearest
  }
}

extension RenderTask {
  /// Pixels decoded, and pixels encoded times the format's weight.
  package func cost(in archive: SZIArchive) -> RenderCost {
    let (decoded, encoded) = pixelCounts(in: archive)
    return RenderCost(pixels: decoded + encoded * format.weight)
  }

  /// How many pixels are decoded, tiles being decoded whole, and how many encoded.
  func pixelCounts(in archive: SZIArchive) -> (decoded: Int, encoded: Int) {
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

  private func encodedPixels(in archive: SZIArchive) -> Int {
    switch self {
    case .picture(let picture):
      let box = Turn(degrees: picture.rotation)
        .bounds(Double(picture.size.width), Double(picture.size.height))
      return Int(box.width * box.height)
    case .viewport(let viewport, let ratio, _):
      return max(1, Int(viewport.width * ratio * viewport.height * ratio))
    case .cut(_, _, let size, _): return size.width * size.height
    case .tile(let address, _):
      return archive.pyramid.rectangle(of: address).map { $0.width * $0.height } ?? 0
    }
  }
}
