import TileGeometry
import TileStorage

/// `info.json` and tiles under their canonical URLs, level 0 of the IIIF Image API 3.0, as `vips dzsave
/// --layout iiif3`. A level that one tile holds is there as `full` too, which viewers ask for.
struct IIIFLayout: StaticLayout {
  let pyramid: Pyramid
  let format: TileFormat
  /// Where the folder will stand, without a slash at its end.
  let id: String
  var firstLevel: Int { 0 }

  func names(of tile: TileAddress) -> [String] {
    let level = pyramid.size(ofLevel: tile.level)
    let (full, place) = (pyramid.imageSize, pyramid.rectangle(of: tile)!)
    let isWhole = place.width == level.width && place.height == level.height
    let end = "/\(place.width),\(place.height)/0/default.\(format.fileExtension)"
    var names: [String] = []
    if isWhole { names.append("full" + end) }
    if isWhole, level == full { names.append("full/max/0/default.\(format.fileExtension)") }
    // Coarser ones are sizes, not tiles.
    if tile.level >= pyramid.finestSingleTileLevel {
      let shift = pyramid.shift(ofLevel: tile.level)
      let (x, y) = (place.x << shift, place.y << shift)
      let width = min(place.width << shift, full.width - x)
      let height = min(place.height << shift, full.height - y)
      names.append("\(x),\(y),\(width),\(height)" + end)
    }
    return names
  }

  var documents: [(name: String, text: String)] {
    let shifts = 0...(pyramid.topLevel - pyramid.finestSingleTileLevel)
    let sizes = (0...pyramid.finestSingleTileLevel).map { level in
      let size = pyramid.size(ofLevel: level)
      return ["width": size.width, "height": size.height]
    }
    var json: [String: any Sendable] = [
      "@context": "http://iiif.io/api/image/3/context.json", "id": id, "type": "ImageService3",
      "protocol": "http://iiif.io/api/image", "profile": "level0", "width": pyramid.imageSize.width,
      "height": pyramid.imageSize.height, "sizes": sizes,
      "tiles": [
        ["width": pyramid.tileSize, "scaleFactors": shifts.map { 1 << $0 }] as [String: any Sendable]
      ],
    ]
    if format != .jpeg {
      json["preferredFormats"] = [format.fileExtension]
      json["extraFormats"] = [format.fileExtension]
    }
    return [("info.json", text(of: json))]
  }
}
