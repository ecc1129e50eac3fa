import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratMetadata

// Metadata of sidecars that could not be read when their images were listed.
extension TableRepository {
  package var wordlessCount: Int { images.wordless.withLock { $0.count } }

  /// Reads metadata that could not be read before. Stops at the first that still cannot be read.
  func readMissingMetadata() throws(StorageError) {
    let table = current
    var found: [ImageID] = []
    for id in images.wordless.withLock({ $0 }) {
      guard let entry = table.entry(id) else {
        found.append(id)
        continue
      }
      if entry.isWaiting { continue }
      if let archive = try? entry.openOnce(), (try? entry.metadata(archive)) == nil { break }
      found.append(id)
      if found.count == 500 { break }
    }
    try updateCatalog(of: found)
  }

  func noteMetadata(of entry: CatalogEntry) {
    images.wordless.withLock { ids in
      if entry.isWordless { ids.insert(entry.id) } else { ids.remove(entry.id) }
    }
  }
}
