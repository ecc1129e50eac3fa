package import TileGeometry
package import TileStorage
package import ZigguratTileProtocols

/// A file that can be made of an archive's tiles.
package enum RenderTask: Hashable, Sendable {
  /// A part of the image.
  case picture(Picture)
  /// What a viewer shows in a window that has the viewport's place, turn and mirroring; transparent outside the
  /// image where the format allows it. With picture pixels per CSS pixel.
  case viewport(Viewport, devicePixelRatio: Double, PictureFormat)
  /// A rectangle of a level (level space, inside the level) at the top left of a picture of at least its size, the
  /// rest in the background's colour.
  case cut(PixelRect, level: Int, paddedTo: PixelSize, PictureFormat)
  /// A part of the image, as a JPEG of what its JPEG tiles hold: nothing is decoded to pixels and encoded again. For those
  /// that `JoinedTiles.mayJoin` says may be.
  case joined(PixelRect, Rotation)
  /// A tile in any format.
  case tile(TileAddress, PictureFormat)

  package var format: PictureFormat {
    switch self {
    case .picture(let picture): picture.format
    case .viewport(_, _, let format), .cut(_, _, _, let format), .tile(_, let format): format
    case .joined: .jpg
    }
  }

  /// Which pixels are read: a rectangle of a level, inside it; nil where none are.
  func source(in pyramid: Pyramid) -> (level: Int, rectangle: PixelRect)? {
    switch self {
    case .picture(let picture):
      let plan = RenderPlan(pyramid, region: picture.region, size: picture.size)
      return (plan.level, plan.rectangle)
    case .viewport(let viewport, let ratio, _):
      let plan = ViewportPlan(pyramid, viewport, devicePixelRatio: ratio)
      return plan.rectangle.map { (plan.level, $0) }
    case .cut(let rectangle, let level, _, _): return (level, rectangle)
    case .joined(let rectangle, _): return (pyramid.topLevel, rectangle)
    case .tile(let address, _): return pyramid.rectangle(of: address).map { (address.level, $0) }
    }
  }

  /// What a file's pixels depend on besides the archive's generation.
  package func stamp(in archive: TileArchive) -> UInt64 {
    guard archive.hasStamps, let (level, rectangle) = source(in: archive.pyramid) else { return 0 }
    return archive.stamp(of: rectangle, level: level)
  }
}
