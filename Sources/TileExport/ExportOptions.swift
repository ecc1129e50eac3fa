package import TileStorage

/// A layout of files that clients without a tile server know.
package enum ExportLayout: String, CaseIterable, Sendable {
  /// Deep Zoom, for OpenSeadragon.
  case deepZoom = "dz"
  case zoomify
  /// For Leaflet and OpenLayers.
  case xyz
  /// IIIF Image API 3.0, level 0.
  case iiif3
}

/// What an export looks like; nil leaves what the archive has.
package struct ExportOptions: Sendable {
  package var layout: ExportLayout
  /// Level pixels; Zoomify's is 256 unless another is asked for, since some of its clients reckon with that.
  package var tileSize: Int?
  /// Level pixels that a tile reaches into its neighbours; Deep Zoom only.
  package var overlap: Int?
  /// Zoomify has JPEG only.
  package var format: TileFormat?
  /// Of tiles that are encoded anew, 1…100.
  package var quality = 80
  /// What stands behind transparent pixels and beyond the image's edge: red, green, blue.
  package var background = [255, 255, 255]
  /// The URL under which the folder will be seen, without a slash at its end.
  package var baseURL: String?
  /// What is at the destination is replaced.
  package var replaces = false

  package static let tileSizes = 16...8192

  package init(layout: ExportLayout) { self.layout = layout }
}
