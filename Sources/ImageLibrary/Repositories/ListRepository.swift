package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
package import ZigguratMetadata

/// The images of a `LibrarySource`, which can list them all. Sources are an object store without a shared catalog, a
/// private space, a single archive and a list in memory. Nothing is written to the disk, and nothing can be changed
/// here.
package final class ListRepository: TableRepository {
  package let root: String
  package let catalog: Catalog
  package let open: OpenArchives
  package let archiveErrors = ArchiveErrors()
  package let images: ImageTable
  private let source: any LibrarySource

  /// - Parameters:
  ///   - name: the name of the library in messages.
  ///   - openLimit: the maximum number of open archives, besides those of responses in progress.
  package init(_ source: any LibrarySource, name: String, openLimit: Int = 512) throws(StorageError) {
    self.source = source
    root = name
    catalog = try Catalog(inMemoryOf: name)
    open = OpenArchives(limit: openLimit)
    images = ImageTable(try LibraryTable(source, previous: nil))
  }

  package func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive? {
    guard let entry = images.table.withLock({ $0.entry(id) }) else { return nil }
    return try opened(entry)
  }

  package func read(_ previous: LibraryTable) throws(StorageError) -> LibraryTable {
    try LibraryTable(source, previous: previous)
  }

  package func takeChanges() -> [ImageID]? {
    let current = current
    guard (try? source.version()) != current.version, let fresh = try? read(current) else { return [] }
    replace(by: fresh)
    return nil
  }

  package func waitForChange() { current.waitForChange() }

  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome { throw .libraryIsReadOnly }

  package func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool {
    throw .libraryIsReadOnly
  }

  package var trash: any TrashStore { NoTrash() }
  package func lookForOutage() -> Bool { !source.isReachable }
  package var figures: [SourceFigure] { source.figures }
  package var sourceOutage: SourceOutage? { source.outage }
}

/// The trash of images that cannot be deleted.
package struct NoTrash: TrashStore {
  package init() {}

  package func delete(
    _ ids: [ImageID], at time: Int
  ) throws(StorageError) -> (deletion: Deletion?, refused: [ImageID]) { (nil, ids) }

  package func deletions(since oldest: Int) -> [Deletion] { [] }
  package func restore(_ name: String, since oldest: Int) -> Deletion.Restoration? { nil }
  package func purgeDeleted(until oldest: Int) {}
}
