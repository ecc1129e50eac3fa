import TileGeometry
package import TileStorage
package import ZigguratFiles

/// Reads an archive back and tells everything that is wrong with it.
package struct ArchiveVerifier {
  /// One fault in one archive.
  package struct Fault: Hashable, Sendable, CustomStringConvertible {
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
  package static func faults(ofArchive path: String, within enclosure: RootDirectory? = nil) -> [Fault] {
    let archive: TileArchive
    do { archive = try TileArchive(path: path, within: enclosure) } catch {
      return [Fault(path: path, what: error.reason)]
    }
    return faults(of: archive, path: path)
  }

  /// The same of an archive that is open.
  ///
  /// Damage of the source from which it was built is among them, as it is no damage of the archive.
  ///
  /// - Parameter path: what the faults call it.
  package static func faults(of archive: some CheckableArchive, path: String) -> [Fault] {
    var faults: [Fault] = []
    let processes = TileCheckWorker.pool(archive.pyramid, archive.format)
    archive.forEachTile { index in
      let address = archive.pyramid.address(at: index)!
      let size = archive.pyramid.rectangle(of: address)!
      let what = archive.fault(ofTile: index) {
        TileCheckWorker.fault(ofTile: $0, archive.format, size, processes)
      }
      if let what {
        let name = "tile \(address.level)/\(address.column)_\(address.row).\(archive.fileExtension)"
        faults.append(Fault(path: path, what: "\(name) \(what)"))
      }
    }
    for name in archive.entryNames where !archive.isIntact(name) {
      faults.append(Fault(path: path, what: "\(name) is damaged: its checksum differs"))
    }
    faults += archive.otherFaults.map { Fault(path: path, what: $0) }
    if faults.isEmpty, let damage = archive.sourceDamage, damage.kind != .warning {
      let what = "is whole, but shows damage of its source: \(damage.reason)"
      faults.append(Fault(path: path, what: what, isOfSource: true))
    }
    return faults
  }
}
