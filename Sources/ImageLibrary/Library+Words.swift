import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratMetadata

/// Words of sidecars that could not be read when their images were listed.
extension Library {
  /// How many images' words could not be read so far, for no fault of their sidecars.
  package var wordlessCount: Int { wordless.withLock { $0.count } }

  /// Reads words that could not be had before; ends with the first that cannot be had again.
  func readMissingWords() throws(StorageError) {
    let table = current
    var found: [ImageID] = []
    for id in wordless.withLock({ $0 }) {
      guard let entry = table.entry(id) else {
        found.append(id)
        continue
      }
      if entry.isWaiting { continue }
      if let archive = try? entry.openOnce(), (try? entry.metadata(archive)) == nil { break }
      found.append(id)
      if found.count == 500 { break }
    }
    try catalogue(found)
  }

  func noteWords(of entry: CatalogEntry) {
    wordless.withLock { ids in
      if entry.isWordless { ids.insert(entry.id) } else { ids.remove(entry.id) }
    }
  }
}
