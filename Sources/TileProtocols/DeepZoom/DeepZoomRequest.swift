package import TileGeometry
package import TileStorage

/// Deep Zoom: `/dzi/{id}.dzi` and `/dzi/{id}_files/{level}/{column}_{row}.{ending}`.
package struct DeepZoomRequest: FileProtocol {
  package let file: RequestedFile<TileAddress>

  package static let labels = ["dzi"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [("dzi", "\(base)/dzi/\(id).dzi")]
  }

  /// Returns the part of a tile's URL before the tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/dzi/\(id)_files/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/dzi/") }

  package init(_ path: RawPath) { self.init(path, 5..<path.count) }

  /// - Parameter part: the id and the rest of the path.
  init(_ path: RawPath, _ part: Range<Int>) {
    let (start, end) = (part.lowerBound, part.upperBound)
    if path.has(".dzi", before: end, from: start) {
      file = .document(ofID: start..<end - 4)
      return
    }
    // Parsed from the end, since an id may contain slashes.
    guard let name = path.slash(before: end, from: start),
      let level = path.slash(before: name, from: start), path.has("_files", before: level, from: start)
    else {
      file = .nothing(at: start)
      return
    }
    file = .tile(ofID: start..<level - 6, path, from: level + 1, to: end) { TileAddress(deepZoom: &$0) }
  }

  package var subject: TileSubject { file.subject(hasMetadata: false, "Deep Zoom") }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    guard let address = file.tile else {
      return .notFound(TileRequestError("a tile is named LEVEL/COLUMN_ROW.FORMAT", status: 404))
    }
    return .stored(address)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    let descriptor = DeepZoomDescriptor(pyramid: image.archive.pyramid, format: image.archive.format)
    return TileDocument(Array(descriptor.xml.utf8), "application/xml")
  }
}

/// A tile's name in Deep Zoom: `{level}/{column}_{row}.`, and the file name extension.
extension TileAddress {
  init?(deepZoom reader: inout PathReader) {
    guard let (level, column, row) = reader.tile(UInt8(ascii: "/"), UInt8(ascii: "_")) else { return nil }
    self.init(level: level, column: column, row: row)
  }

  /// Writes the name. Inverse of `init(deepZoom:)`.
  package func write(deepZoom text: inout URLWriter, _ format: TileFormat) {
    text.put(tile: (level, column, row), UInt8(ascii: "/"), UInt8(ascii: "_"), format)
  }
}
