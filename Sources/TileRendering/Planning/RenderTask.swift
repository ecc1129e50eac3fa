package import TileGeometry
package import TileStorage
package import ZigguratTileProtocols

/// A file that can be rendered from an archive's tiles.
package enum RenderTask: Hashable, Sendable {
  /// A part of the image.
  case picture(Picture)
  /// The content of a viewer's window with the viewport's position, rotation and mirroring. It is transparent outside
  /// the image if the format allows that. The ratio is picture pixels per CSS pixel.
  case viewport(Viewport, devicePixelRatio: Double, PictureFormat)
  /// A rectangle of a level (level space, inside the level) at the top left of a picture of at least its size. The rest
  /// has the background's colour.
  case crop(PixelRect, level: Int, paddedTo: PixelSize, PictureFormat)
  /// A part of the image as a JPEG of its JPEG tiles' coefficients: nothing is decoded to pixels and encoded again.
  /// Only for parts for which `JoinedTiles.mayJoin` is true.
  case joined(PixelRect, Rotation)
  /// A tile in any format.
  case tile(TileAddress, PictureFormat)

  package var format: PictureFormat {
    switch self {
    case .picture(let picture): picture.format
    case .viewport(_, _, let format), .crop(_, _, _, let format), .tile(_, let format): format
    case .joined: .jpg
    }
  }

  /// Returns the pixels to read: a rectangle of a level, inside it; nil if none are read.
  func source(in pyramid: Pyramid) -> (level: Int, rectangle: PixelRect)? {
    switch self {
    case .picture(let picture):
      let plan = RenderPlan(pyramid, region: picture.region, size: picture.size)
      return (plan.level, plan.rectangle)
    case .viewport(let viewport, let ratio, _):
      let plan = ViewportPlan(pyramid, viewport, devicePixelRatio: ratio)
      return plan.rectangle.map { (plan.level, $0) }
    case .crop(let rectangle, let level, _, _): return (level, rectangle)
    case .joined(let rectangle, _): return (pyramid.topLevel, rectangle)
    case .tile(let address, _): return pyramid.rectangle(of: address).map { (address.level, $0) }
    }
  }

  /// Returns the version on which a file's pixels depend besides the archive's generation.
  package func version(in archive: TileArchive) -> UInt64 {
    guard archive.hasTileVersions, let (level, rectangle) = source(in: archive.pyramid) else { return 0 }
    return archive.version(of: rectangle, level: level)
  }
}
