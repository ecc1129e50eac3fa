import Synchronization
package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
package import ZigguratImageLibrary
package import ZigguratMetadata

/// Archives in memory, for tests.
package final class InMemoryRepository: ImageRepository {
  package let root = "memory"
  package let catalog: Catalog
  package let open = OpenArchives(limit: 16)
  package let archiveErrors = ArchiveErrors()
  private let entries: Mutex<[ImageID: LibraryEntry]>
  /// Images that were removed and not yet reported.
  private let unreported = Mutex<Set<ImageID>>([])

  package init(_ archives: [ImageID: TileArchive] = [:]) throws(StorageError) {
    catalog = try Catalog(inMemoryOf: root)
    entries = Mutex([:])
    for (id, archive) in archives { try add(archive, as: id) }
  }

  package func add(_ archive: TileArchive, as id: ImageID) throws(StorageError) {
    let identity = FileIdentity(inode: archive.generation, size: 1, modifiedNanoseconds: 0)
    let image = SourceImage(id: id, path: id.text, identity: identity) { archive }
    let entry = LibraryEntry(image, identity: identity, sidecar: nil)
    entries.withLock { $0[id] = entry }
    try catalog.update([entry.catalogEntry(archive)], removing: [])
  }

  package func remove(_ id: ImageID) throws(StorageError) {
    guard entries.withLock({ $0.removeValue(forKey: id) }) != nil else { return }
    unreported.withLock { _ = $0.insert(id) }
    try catalog.update([], removing: [id.text])
  }

  package func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive? {
    try ImageID(String(decoding: id, as: UTF8.self)).flatMap { (id) throws(StorageError) in try archive(id) }
  }

  package func archive(
    _ id: ImageID, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive? {
    try entry(id).map { (entry) throws(StorageError) in try open.archive(entry) }
  }

  package func entry(_ id: ImageID) -> LibraryEntry? { entries.withLock { $0[id] } }

  package func isUndecided(_ id: ImageID) -> Bool { false }

  package func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing { try catalog.list(selection, after: cursor, limit: limit) }

  package func images(madeFrom digest: String) throws(StorageError) -> [MadeImage] { [] }

  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome { throw .libraryIsReadOnly }

  package var trash: any TrashStore { NoTrash() }

  package func reserve(_ id: ImageID, for upload: String) -> Bool { entry(id) == nil }

  package func waitForChange() {}
  package func refresh() -> Bool { false }

  @discardableResult
  package func updateCatalog(
    readsAll: Bool, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) -> Int { 0 }

  package func reload() {}

  package func removals(since mark: inout RemovalMark, _ removed: ([ImageID]) -> Void) {
    let ids = unreported.withLock { ids in
      defer { ids = [] }
      return ids
    }
    removed(ids.filter { entry($0) == nil }.sorted())
  }

  package var count: Int { entries.withLock { $0.count } }
  package var unreadableArchiveCount: Int { 0 }
  package var wordlessCount: Int { 0 }
  package func lookForOutage() -> Bool { false }
  package var figures: [SourceFigure] { [] }
}
