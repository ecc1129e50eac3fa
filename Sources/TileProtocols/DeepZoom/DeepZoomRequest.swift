package import TileGeometry
package import TileStorage

/// Deep Zoom: `/dzi/{id}.dzi` and `/dzi/{id}_files/{level}/{column}_{row}.{ending}`.
package struct DeepZoomRequest: TileProtocol {
  private enum Asked {
    case descriptor
    case tile(TileAddress)
    /// Where tiles are, but no tile's name.
    case misnamed
    case nothing
  }

  private let asked: Asked
  package let id: Range<Int>
  package let format: PictureFormat?

  package static let labels = ["dzi"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    [("dzi", "\(base)/dzi/\(id).dzi")]
  }

  /// What stands in front of a tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/dzi/\(id)_files/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/dzi/") }

  package init(_ path: RawPath) {
    let start = 5
    if path.has(".dzi", before: path.count, from: start) {
      (asked, id, format) = (.descriptor, start..<path.count - 4, nil)
      return
    }
    // From the end, since an id may hold slashes.
    guard let file = path.slash(before: path.count, from: start),
      let level = path.slash(before: file, from: start), path.has("_files", before: level, from: start)
    else {
      (asked, id, format) = (.nothing, start..<start, nil)
      return
    }
    id = start..<level - 6
    var reader = PathReader(path, from: level + 1, to: path.count)
    if let address = TileAddress(deepZoom: &reader) {
      (asked, format) = (.tile(address), PictureFormat(tileEnding: reader.rest))
    } else {
      (asked, format) = (.misnamed, nil)
    }
  }

  package var subject: TileSubject {
    switch asked {
    case .descriptor: .document(hasWords: false)
    case .tile, .misnamed: .tile
    case .nothing: .nothing("there is no Deep Zoom file at this path")
    }
  }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TilePlace {
    guard case .tile(let address) = asked else {
      return .nowhere(TileRefusal("a tile is named LEVEL/COLUMN_ROW.FORMAT", status: 404))
    }
    return .stored(address)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    let descriptor = DeepZoomDescriptor(pyramid: image.archive.pyramid, format: image.archive.format)
    return TileDocument(Array(descriptor.xml.utf8), "application/xml")
  }
}

/// A tile's name as Deep Zoom has it: `{level}/{column}_{row}.`, and the ending.
extension TileAddress {
  init?(deepZoom reader: inout PathReader) {
    guard let level = reader.number(), reader.skip(UInt8(ascii: "/")), let column = reader.number(),
      reader.skip(UInt8(ascii: "_")), let row = reader.number(), reader.skip(UInt8(ascii: "."))
    else { return nil }
    self.init(level: level, column: column, row: row)
  }

  /// Inverse of `init(deepZoom:)`.
  package func write(deepZoom text: inout PathText, _ format: TileFormat) {
    text.put(level)
    text.put("/")
    text.put(column)
    text.put("_")
    text.put(row)
    text.put(".")
    text.put(format.ending)
  }
}
