import Catalog
import Files
import Foundation
import PyramidBuilding
import TileStorage

/// Looks for slides' labels among a library's archives, with the help of the sources that its catalog knows.
enum LabelCheck {
  /// - Parameter archives: paths of archives in the library, or of one alone.
  static func faults(in library: String, _ archives: [String]) throws(StorageError) -> [ArchiveVerifier.Fault]
  {
    var faults: [ArchiveVerifier.Fault] = []
    var catalog: Catalog?
    for path in archives {
      guard let archive = try? TileArchive(path: path), let record = archive.buildRecord,
        PublishedLabel.isPossible(record)
      else { continue }
      if catalog == nil, Catalog.exists(in: library) {
        catalog = try Catalog(library: library)
      }
      var sources: [String] = []
      if let id = ImageID(archive: path, below: library) {
        // Of one page's source the others are known, too.
        let relatives = [id, id.folder, id.folder?.page(1)].compactMap(\.self)
        let known = try catalog?.sources(of: relatives) ?? [:]
        let place = relatives.lazy.compactMap { known[$0]?.place }.first
        sources = candidates(id, record, place, library)
      }
      if let fault = PublishedLabel.fault(record, archive.metadata, sources: sources) {
        faults.append(ArchiveVerifier.Fault(path: path, what: fault))
      }
    }
    return faults
  }

  /// Returns the paths at which an archive's source may lie.
  private static func candidates(
    _ id: ImageID, _ record: BuildRecord, _ place: SourcePlace?, _ library: String
  ) -> [String] {
    // A page's file is its book's.
    guard let source = record.page == nil || record.folio != nil ? id : id.folder else { return [] }
    let ending = record.sourceName.lastIndex(of: ".").map { String(record.sourceName[$0...]) } ?? ""
    // As an upload is kept.
    var paths = ["\(library)/\(source)\(ending)"]
    if let place {
      var below = source.folder?.text ?? ""
      if let prefix = place.prefix?.text, below == prefix || below.hasPrefix(prefix + "/") {
        below = String(below.dropFirst(prefix.count + 1))
      }
      paths.append(place.path)
      paths.append("\(place.path)/\(below.isEmpty ? "" : below + "/")\(record.sourceName)")
    }
    return paths
  }
}
