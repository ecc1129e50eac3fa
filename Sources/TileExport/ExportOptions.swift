package import TileStorage

/// A layout of files for clients that need no tile server.
package enum ExportLayout: String, CaseIterable, Sendable {
  /// Deep Zoom, for OpenSeadragon.
  case deepZoom = "dz"
  case zoomify
  /// For Leaflet and OpenLayers.
  case xyz
  /// IIIF Image API 3.0, level 0.
  case iiif3
}

/// The options of an export; nil keeps the archive's value.
package struct ExportOptions: Sendable {
  package var layout: ExportLayout
  /// Level pixels. Zoomify's default is 256, since some of its clients assume that.
  package var tileSize: Int?
  /// The overlap of a tile into its neighbours in level pixels; Deep Zoom only.
  package var overlap: Int?
  /// The tile format; Zoomify has JPEG only.
  package var format: TileFormat?
  /// The quality of tiles that are re-encoded, 1…100.
  package var quality = 80
  /// The colour behind transparent pixels and beyond the image's edge: red, green, blue, 0…255.
  package var background = [255, 255, 255]
  /// The URL under which the folder will be served, without a slash at its end.
  package var baseURL: String?
  /// Whether an export at the destination is replaced.
  package var replaces = false

  package static let tileSizes = 16...8192

  package init(layout: ExportLayout) { self.layout = layout }
}
