import Foundation
import PyramidBuilding
import TileStorage
import ZigguratCatalog
import ZigguratFiles

/// A search for slides' labels among a library's archives, with the help of the sources in its catalog.
enum SlideLabelCheck {
  /// - Parameter archives: paths of archives in the library, or of one alone.
  static func defects(in library: String, _ archives: [String]) throws(StorageError) -> [ArchiveVerifier
    .Defect]
  {
    var defects: [ArchiveVerifier.Defect] = []
    var catalog: Catalog?
    for path in archives {
      guard let archive = try? TileArchive(path: path), let record = archive.buildRecord,
        PublishedSlideLabel.isPossible(record)
      else { continue }
      if catalog == nil, Catalog.exists(in: library) {
        catalog = try Catalog(library: library)
      }
      var sources: [String] = []
      if let id = ImageID(archive: path, below: library) {
        // A known source of one page also identifies those of the others.
        let relatives = [id, id.folder, id.folder?.page(1)].compactMap(\.self)
        let known = try catalog?.sources(of: relatives) ?? [:]
        let place = relatives.lazy.compactMap { known[$0]?.place }.first
        sources = SourcePlace.paths(of: id, record, below: library, place)
      }
      if let defect = PublishedSlideLabel.defect(record, archive.metadata, sources: sources) {
        defects.append(ArchiveVerifier.Defect(path: path, what: defect))
      }
    }
    return defects
  }
}
