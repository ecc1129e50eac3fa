import HTTPMessages
package import TileGeometry

/// XYZ: `/xyz/{id}/tilejson.json` and `/xyz/{id}/{z}/{x}/{y}.{ending}`.
package struct XYZRequest: TileProtocol {
  private enum Asked {
    case tileJSON
    case tile(XYZTile)
    /// Where tiles are, but no tile's name.
    case misnamed
    case nothing
  }

  private let asked: Asked
  package let id: Range<Int>
  package let format: PictureFormat?

  package static let labels = ["xyz"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    let folder = folder(ofID: id, base: base)
    return [("xyz", folder + XYZTile.template(ending: ending)), ("tilejson", "\(folder)tilejson.json")]
  }

  /// What stands in front of a tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/xyz/\(id)/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/xyz/") }

  package init(_ path: RawPath) {
    let start = 5
    // From the end, since an id may hold slashes.
    guard let file = path.slash(before: path.count, from: start) else {
      (asked, id, format) = (.nothing, start..<start, nil)
      return
    }
    if path.isPart("tilejson.json", from: file + 1, to: path.count) {
      (asked, id, format) = (.tileJSON, start..<file, nil)
      return
    }
    guard let x = path.slash(before: file, from: start), let z = path.slash(before: x, from: start) else {
      (asked, id, format) = (.nothing, start..<start, nil)
      return
    }
    id = start..<z
    var reader = PathReader(path, from: z + 1, to: path.count)
    if let tile = XYZTile(&reader) {
      (asked, format) = (.tile(tile), PictureFormat(tileEnding: reader.rest))
    } else {
      (asked, format) = (.misnamed, nil)
    }
  }

  package var subject: TileSubject {
    switch asked {
    case .tileJSON: .document(hasWords: true)
    case .tile, .misnamed: .tile
    case .nothing: .nothing("there is no XYZ file at this path")
    }
  }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TilePlace {
    guard case .tile(let tile) = asked else {
      return .nowhere(TileRefusal("a tile is named Z/X/Y.FORMAT", status: 404))
    }
    return XYZGrid(pyramid).place(of: tile)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    let archive = image.archive
    let folder = Self.folder(ofID: PercentEncoding.encode(image.id), base: image.base)
    let template = XYZTile.template(ending: archive.format.fileExtension)
    let description = XYZDescription(
      name: image.metadata.title ?? image.id, metadata: image.metadata, archive.pyramid,
      tiles: "\(folder)\(template)?g=\(String(archive.generation, radix: 16))")
    return TileDocument(description.json, "application/json")
  }
}
