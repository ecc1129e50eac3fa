import TileGeometry
package import TileStorage
package import ZigguratFiles

/// Reads an archive back and reports its defects.
package struct ArchiveVerifier {
  /// A defect of an archive.
  package struct Defect: Hashable, Sendable, CustomStringConvertible {
    package let path: String
    package let what: String
    /// Whether the archive is complete and shows the damage of its source.
    package let isOfSource: Bool

    package init(path: String, what: String, isOfSource: Bool = false) {
      self.path = path
      self.what = what
      self.isOfSource = isOfSource
    }

    package var description: String { "\(path): \(what)" }
  }

  /// Opens the archive at `path` and checks that every tile of its pyramid exists and decodes. A tile must have the
  /// checksum in the directory, and the size of its address. Other entries are checked by checksum.
  ///
  /// - Parameter enclosure: the library, which links must not lead out of; nil if there is none.
  package static func defects(ofArchive path: String, within enclosure: RootDirectory? = nil) -> [Defect] {
    let archive: TileArchive
    do { archive = try TileArchive(path: path, within: enclosure) } catch {
      return [Defect(path: path, what: error.reason)]
    }
    return defects(of: archive, path: path)
  }

  /// Returns the defects of an open archive.
  ///
  /// The result includes damage of the archive's source, marked as such.
  ///
  /// - Parameter path: the archive's path in the defects.
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
