import TileGeometry
package import TileStorage
package import ZigguratFiles

/// Reads an archive back and tells everything that is wrong with it.
package struct ArchiveVerifier {
  /// One fault in one archive.
  package struct Defect: Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let what: String
    /// Whether the archive is whole, and shows the damage of its source.
    package let isOfSource: Bool

    package init(path: String, what: String, isOfSource: Bool = false) {
      self.path = path
      self.what = what
      self.isOfSource = isOfSource
    }

    package var description: String { "\(path): \(what)" }
  }

  /// Opens the archive at `path` and checks that every tile of its pyramid is there, has the checksum that
  /// the directory states, decodes, and has the size that its place demands; other entries by checksum.
  ///
  /// - Parameter enclosure: the library, which no link leads out of; nil if there is none.
  package static func defects(ofArchive path: String, within enclosure: RootDirectory? = nil) -> [Defect] {
    let archive: TileArchive
    do { archive = try TileArchive(path: path, within: enclosure) } catch {
      return [Defect(path: path, what: error.reason)]
    }
    return defects(of: archive, path: path)
  }

  /// The same of an archive that is open.
  ///
  /// Damage of the source from which it was built is among them, as it is no damage of the archive.
  ///
  /// - Parameter path: what the faults call it.
  package static func defects(of archive: some CheckableArchive, path: String) -> [Defect] {
    var defects: [Defect] = []
    let processes = TileCheckWorker.pool(archive.pyramid, archive.format)
    archive.forEachTile { index in
      let address = archive.pyramid.address(at: index)!
      let size = archive.pyramid.rectangle(of: address)!
      let what = archive.defect(ofTile: index) {
        TileCheckWorker.defect(ofTile: $0, archive.format, size, processes)
      }
      if let what {
        let name = "tile \(address.level)/\(address.column)_\(address.row).\(archive.fileExtension)"
        defects.append(Defect(path: path, what: "\(name) \(what)"))
      }
    }
    for name in archive.entryNames where !archive.isIntact(name) {
      defects.append(Defect(path: path, what: "\(name) is damaged: its checksum differs"))
    }
    defects += archive.otherDefects.map { Defect(path: path, what: $0) }
    if defects.isEmpty, let damage = archive.sourceDamage, damage.kind != .warning {
      let what = "is whole, but shows damage of its source: \(damage.reason)"
      defects.append(Defect(path: path, what: what, isOfSource: true))
    }
    return defects
  }
}
