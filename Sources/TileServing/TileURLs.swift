import TileGeometry
import TileStorage

/// The URLs of an image's tiles, pinned to the archive's generation so that they may be kept for ever.
struct TileURLs {
  private let scheme: TileScheme
  private let head: String
  private let tail: String
  private let pyramid: Pyramid
  private let baseLevel: Int

  init(_ scheme: TileScheme, id: String, archive: SZIArchive, base: String) {
    self.scheme = scheme
    pyramid = archive.pyramid
    baseLevel = scheme.coarsestLevel(of: pyramid)
    let id = PercentEncoding.encode(id)
    head =
      switch scheme {
      case .iiif3: "\(base)/iiif/3/\(id)/"
      case .iiif2: "\(base)/iiif/2/\(id)/"
      case .xyz: "\(base)/xyz/\(id)/"
      default: "\(base)/dzi/\(id)_files/"
      }
    tail = ".\(archive.format.fileExtension)?g=\(String(archive.generation, radix: 16))"
  }

  func url(of tile: CoveredTile) -> String {
    let address = tile.address
    return switch scheme {
    case .iiif3, .iiif2: head + imageRequest(tile) + tail
    case .xyz: "\(head)\(address.level - baseLevel)/\(address.column)/\(address.row)\(tail)"
    default: "\(head)\(address.level)/\(address.column)_\(address.row)\(tail)"
    }
  }

  /// Region, size, rotation and quality (IIIF Image API, section 4); the region in image space.
  private func imageRequest(_ tile: CoveredTile) -> String {
    let (source, image) = (tile.source, pyramid.imageSize)
    let shift = pyramid.shift(ofLevel: tile.address.level)
    let (x, y) = (source.x << shift, source.y << shift)
    // The last level pixel of a side may be covered but partly.
    let width = min(source.width << shift, image.width - x)
    let height = min(source.height << shift, image.height - y)
    let region = width == image.width && height == image.height ? "full" : "\(x),\(y),\(width),\(height)"
    let isWhole = region == "full" && shift == 0
    let size = isWhole ? (scheme == .iiif3 ? "max" : "full") : "\(source.width),\(source.height)"
    return "\(region)/\(size)/0/default"
  }
}
