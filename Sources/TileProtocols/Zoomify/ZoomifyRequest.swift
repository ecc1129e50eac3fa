package import TileGeometry

/// Zoomify: `/zoomify/{id}/ImageProperties.xml` and `/zoomify/{id}/TileGroup{n}/{level}-{x}-{y}.{ending}`.
package struct ZoomifyRequest: FileProtocol {
  package let file: RequestedFile<ZoomifyTile>

  package static let labels = ["zoomify"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [("zoomify", "\(folder(ofID: id, base: base))ImageProperties.xml")]
  }

  /// Returns the part of a tile's URL before the tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/zoomify/\(id)/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/zoomify/") }

  package init(_ path: RawPath) { self.init(path, 9..<path.count) }

  /// - Parameter part: the id and the rest of the path.
  init(_ path: RawPath, _ part: Range<Int>) {
    let (start, end) = (part.lowerBound, part.upperBound)
    // Parsed from the end, since an id may contain slashes.
    guard let name = path.slash(before: end, from: start) else {
      file = .nothing(at: start)
      return
    }
    if path.isPart("ImageProperties.xml", from: name + 1, to: end) {
      file = .document(ofID: start..<name)
      return
    }
    guard let group = path.slash(before: name, from: start), path.has("TileGroup", at: group + 1) else {
      file = .nothing(at: start)
      return
    }
    file = .tile(ofID: start..<group, path, from: group + 1, to: end) { ZoomifyTile(&$0) }
  }

  package var subject: TileSubject { file.subject(hasMetadata: false, "Zoomify") }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    guard let tile = file.tile else {
      return .notFound(TileRequestError("a tile is named TileGroup/LEVEL-X-Y.jpg", status: 404))
    }
    return ZoomifyGrid(pyramid).place(of: tile)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    TileDocument(Array(ZoomifyGrid(image.archive.pyramid).xml.utf8), "application/xml")
  }
}
