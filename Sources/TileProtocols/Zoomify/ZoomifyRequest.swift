package import TileGeometry

/// Zoomify: `/zoomify/{id}/ImageProperties.xml` and `/zoomify/{id}/TileGroup{n}/{level}-{x}-{y}.{ending}`.
package struct ZoomifyRequest: TileProtocol {
  private enum Asked {
    case properties
    case tile(ZoomifyTile)
    /// Where tiles are, but no tile's name.
    case misnamed
    case nothing
  }

  private let asked: Asked
  package let id: Range<Int>
  package let format: PictureFormat?

  package static let labels = ["zoomify"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [("zoomify", "\(folder(ofID: id, base: base))ImageProperties.xml")]
  }

  /// What stands in front of a tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/zoomify/\(id)/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/zoomify/") }

  package init(_ path: RawPath) {
    let start = 9
    // From the end, since an id may hold slashes.
    guard let file = path.slash(before: path.count, from: start) else {
      (asked, id, format) = (.nothing, start..<start, nil)
      return
    }
    if path.isPart("ImageProperties.xml", from: file + 1, to: path.count) {
      (asked, id, format) = (.properties, start..<file, nil)
      return
    }
    guard let group = path.slash(before: file, from: start), path.has("TileGroup", at: group + 1) else {
      (asked, id, format) = (.nothing, start..<start, nil)
      return
    }
    id = start..<group
    var reader = PathReader(path, from: group + 1, to: path.count)
    if let tile = ZoomifyTile(&reader) {
      (asked, format) = (.tile(tile), PictureFormat(tileEnding: reader.rest))
    } else {
      (asked, format) = (.misnamed, nil)
    }
  }

  package var subject: TileSubject {
    switch asked {
    case .properties: .document(hasWords: false)
    case .tile, .misnamed: .tile
    case .nothing: .nothing("there is no Zoomify file at this path")
    }
  }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TilePlace {
    guard case .tile(let tile) = asked else {
      return .nowhere(TileRefusal("a tile is named TileGroup/LEVEL-X-Y.jpg", status: 404))
    }
    return ZoomifyGrid(pyramid).place(of: tile)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    TileDocument(Array(ZoomifyGrid(image.archive.pyramid).xml.utf8), "application/xml")
  }
}
