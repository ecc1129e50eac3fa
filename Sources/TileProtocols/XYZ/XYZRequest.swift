package import TileGeometry
import ZigguratHTTPMessages

/// XYZ: `/xyz/{id}/tilejson.json`, and tiles: `/xyz/{id}/{z}/{x}/{y}.{ending}`, also with `@2x` or `@unpadded` before
/// the extension.
package struct XYZRequest: FileProtocol {
  package let file: RequestedFile<XYZTile>

  package static let labels = ["xyz"]

  package static func urls(ofID id: String, base: String, ending: String) -> [(name: String, url: String)] {
    let folder = folder(ofID: id, base: base)
    return [("xyz", folder + XYZTile.template(ending: ending)), ("tilejson", "\(folder)tilejson.json")]
  }

  /// Returns the part of a tile's URL before the tile's name.
  package static func folder(ofID id: String, base: String) -> String { "\(base)/xyz/\(id)/" }

  package static func has(_ path: RawPath) -> Bool { path.starts(with: "/xyz/") }

  package init(_ path: RawPath) {
    let start = 5
    // Parsed from the end, since an id may contain slashes.
    guard let name = path.slash(before: path.count, from: start) else {
      file = .nothing(at: start)
      return
    }
    if path.isPart("tilejson.json", from: name + 1, to: path.count) {
      file = .document(ofID: start..<name)
      return
    }
    guard let x = path.slash(before: name, from: start), let z = path.slash(before: x, from: start) else {
      file = .nothing(at: start)
      return
    }
    file = .tile(ofID: start..<z, path, from: z + 1, to: path.count) { XYZTile(&$0) }
  }

  package var subject: TileSubject { file.subject(hasMetadata: true, "XYZ") }

  package func place(in pyramid: Pyramid, _ limits: PictureLimits) -> TileResolution {
    guard let tile = file.tile else {
      return .notFound(TileRequestError("a tile is named Z/X/Y.FORMAT", status: 404))
    }
    return XYZGrid(pyramid).place(of: tile)
  }

  package func document(of image: DescribedImage) -> TileDocument {
    let archive = image.archive
    let folder = Self.folder(ofID: PercentEncoding.encode(image.id), base: image.base)
    func tiles(isDouble: Bool) -> String {
      let name = XYZTile.template(ending: archive.format.fileExtension, isDouble: isDouble)
      return "\(folder)\(name)?v=\(String(archive.generation, radix: 16))"
    }
    let description = XYZDescription(
      name: image.metadata.title ?? image.id, metadata: image.metadata, archive.pyramid,
      tiles: tiles(isDouble: false), doubleTiles: tiles(isDouble: true), format: archive.format)
    return TileDocument(description.json, "application/json")
  }
}
