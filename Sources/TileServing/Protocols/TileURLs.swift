import HTTPMessages
import TileGeometry
import TileStorage

/// The URLs of an image's tiles, pinned to the archive's generation so that they may be kept for ever.
struct TileURLs {
  private let scheme: TileScheme
  // As they stand in a JSON string.
  private let head: [UInt8]
  private let tail: [UInt8]
  private let pyramid: Pyramid
  private let baseLevel: Int

  init(_ scheme: TileScheme, id: String, archive: SZIArchive, base: String) {
    self.scheme = scheme
    pyramid = archive.pyramid
    baseLevel = scheme.coarsestLevel(of: pyramid)
    let id = PercentEncoding.encode(id)
    let place =
      switch scheme {
      case .iiif3: "iiif/3/\(id)/"
      case .iiif2: "iiif/2/\(id)/"
      case .xyz: "xyz/\(id)/"
      default: "dzi/\(id)_files/"
      }
    head = JSONText.escaped("\(base)/\(place)")
    tail = JSONText.escaped(
      ".\(archive.format.fileExtension)?g=\(String(archive.generation, radix: 16))")
  }

  /// Writes the tile's URL as a JSON string.
  func write(_ tile: CoveredTile, _ text: inout JSONText) {
    text.string { text in
      text.part(escaped: head)
      switch scheme {
      case .iiif3, .iiif2: writeImageRequest(tile, &text)
      case .xyz: writeAddress(tile.address, base: baseLevel, "/", &text)
      default: writeAddress(tile.address, base: 0, "_", &text)
      }
      text.part(escaped: tail)
    }
  }

  private func writeAddress(
    _ address: TileAddress, base: Int, _ separator: StaticString, _ text: inout JSONText
  ) {
    text.part(address.level - base)
    text.part("/")
    text.part(address.column)
    text.part(separator)
    text.part(address.row)
  }

  /// Region, size, rotation and quality (IIIF Image API, section 4); the region in image space.
  private func writeImageRequest(_ tile: CoveredTile, _ text: inout JSONText) {
    let (source, image) = (tile.source, pyramid.imageSize)
    let shift = pyramid.shift(ofLevel: tile.address.level)
    let (x, y) = (source.x << shift, source.y << shift)
    // The last level pixel of a side may be covered but partly.
    let width = min(source.width << shift, image.width - x)
    let height = min(source.height << shift, image.height - y)
    let isFull = width == image.width && height == image.height
    if isFull { text.part("full") } else { writeList([x, y, width, height], &text) }
    text.part("/")
    if isFull && shift == 0 {
      text.part(scheme == .iiif3 ? "max" : "full")
    } else {
      writeList([source.width, source.height], &text)
    }
    text.part("/0/default")
  }

  private func writeList(_ numbers: [Int], _ text: inout JSONText) {
    for (index, number) in numbers.enumerated() {
      if index > 0 { text.part(",") }
      text.part(number)
    }
  }
}
