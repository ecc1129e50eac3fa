import Imaging
import TileGeometry
import TileStorage

/// Reads an archive back and tells everything that is wrong with it.
public struct ArchiveVerifier {
  /// One fault in one archive.
  public struct Fault: Hashable, Sendable, CustomStringConvertible {
    public let path: String
    public let what: String

    public var description: String { "\(path): \(what)" }
  }

  /// Opens the archive at `path` and checks that every tile of its pyramid is there, has the checksum that
  /// the directory states, decodes, and has the size that its place demands; other entries by checksum.
  public static func faults(ofArchive path: String) -> [Fault] {
    let archive: SZIArchive
    do { archive = try SZIArchive(path: path) } catch { return [Fault(path: path, what: error.reason)] }
    var faults: [Fault] = []
    for index in 0..<archive.pyramid.tileCount {
      if let what = fault(ofTile: index, archive) {
        let address = archive.pyramid.address(at: index)!
        let name = "tile \(address.level)/\(address.column)_\(address.row).\(archive.fileExtension)"
        faults.append(Fault(path: path, what: "\(name) \(what)"))
      }
    }
    for name in archive.entryNames where !archive.isIntact(name) {
      faults.append(Fault(path: path, what: "\(name) is damaged: its checksum differs"))
    }
    return faults
  }

  private static func fault(ofTile index: Int, _ archive: SZIArchive) -> String? {
    guard let stated = archive.checksum(ofTile: index) else { return "is missing" }
    guard let bytes = archive.tile(index) else { return "cannot be read: its header is damaged" }
    guard checksum(bytes) == stated else { return "is damaged: its checksum differs" }
    let expected = archive.pyramid.rectangle(of: archive.pyramid.address(at: index)!)!
    do {
      let image = try Image(encoded: bytes, subject: "tile")
      guard image.width == expected.width, image.height == expected.height else {
        return "has \(image.width)×\(image.height) pixels, not \(expected.width)×\(expected.height)"
      }
      try image.decodeAll()
    } catch { return "does not decode: \(error.message)" }
    return nil
  }
}
