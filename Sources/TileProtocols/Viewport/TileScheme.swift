import TileGeometry
import TileStorage
import ZigguratHTTPMessages

/// A form of tile URLs in answers about viewports. In every scheme the picture at a URL has exactly the pixels
/// of the tile's `source`.
package enum TileScheme: String, CaseIterable, Sendable {
  case deepZoom = "dzi"
  case iiif3, iiif2, xyz

  /// Returns the pyramid whose tiles the scheme can name: only Deep Zoom has overlap.
  func grid(of pyramid: Pyramid) -> Pyramid {
    switch self {
    case .deepZoom: pyramid
    case .iiif3, .iiif2, .xyz:
      Pyramid(imageSize: pyramid.imageSize, tileSize: pyramid.tileSize) ?? pyramid
    }
  }

  /// Returns the coarsest level whose tiles have URLs.
  func coarsestLevel(of pyramid: Pyramid) -> Int {
    switch self {
    case .deepZoom, .iiif3, .iiif2: 0
    case .xyz: XYZGrid(pyramid).baseLevel
    }
  }

  /// Returns the part of a tile's URL before the tile's name.
  func folder(ofID id: String, base: String) -> String {
    switch self {
    case .deepZoom: DeepZoomRequest.folder(ofID: id, base: base)
    case .iiif3: IIIFRequest.folder(.three, ofID: id, base: base) + "/"
    case .iiif2: IIIFRequest.folder(.two, ofID: id, base: base) + "/"
    case .xyz: XYZRequest.folder(ofID: id, base: base)
    }
  }

  /// Writes a tile's name in the scheme.
  /// - Parameter source: the tile's pixels, level space.
  func write(
    _ tile: TileAddress, _ source: PixelRect, of pyramid: Pyramid, _ format: TileFormat,
    to text: inout URLWriter
  ) {
    switch self {
    case .deepZoom: tile.write(deepZoom: &text, format)
    case .iiif3: IIIFTileName.write(source, level: tile.level, of: pyramid, .three, format, &text)
    case .iiif2: IIIFTileName.write(source, level: tile.level, of: pyramid, .two, format, &text)
    case .xyz:
      let isFull = source.width == pyramid.tileSize && source.height == pyramid.tileSize
      XYZGrid(pyramid).tile(tile, isPadded: isFull).write(&text, format)
    }
  }
}
