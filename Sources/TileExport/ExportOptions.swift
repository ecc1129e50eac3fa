public import TileStorage

/// A layout of files that clients without a tile server know.
public struct ExportLayout: Hashable, Sendable {
  public let name: String

  /// Deep Zoom, for OpenSeadragon.
  public static let deepZoom = ExportLayout(name: "dz")
  public static let zoomify = ExportLayout(name: "zoomify")
  /// For Leaflet and OpenLayers.
  public static let xyz = ExportLayout(name: "xyz")
  /// IIIF Image API 3.0, level 0.
  public static let iiif3 = ExportLayout(name: "iiif3")

  public static let all: [ExportLayout] = [.deepZoom, .zoomify, .xyz, .iiif3]
}

/// What an export looks like; nil leaves what the archive has.
public struct ExportOptions: Sendable {
  public var layout: ExportLayout
  /// Level pixels; Zoomify's is 256 unless another is asked for, since some of its clients reckon with that.
  public var tileSize: Int?
  /// Level pixels that a tile reaches into its neighbours; Deep Zoom only.
  public var overlap: Int?
  /// Zoomify has JPEG only.
  public var format: TileFormat?
  /// Of tiles that are encoded anew, 1…100.
  public var quality = 80
  /// What stands behind transparent pixels and beyond the image's edge: red, green, blue.
  public var background = [255, 255, 255]
  /// The URL under which the folder will be seen, without a slash at its end.
  public var baseURL: String?
  /// What is at the destination is replaced.
  public var replaces = false

  public static let tileSizes = 16...8192

  public init(layout: ExportLayout) { self.layout = layout }
}
