import Glibc
import Synchronization
package import TileStorage
package import ZigguratCatalog
package import ZigguratConcurrency
package import ZigguratFiles
package import ZigguratMetadata

/// The storage of the archives of a shared catalog.
package protocol RemoteImageSource: Sendable {
  /// Returns the image of a row, without a request to the storage.
  func image(_ row: ArchiveRow) -> SourceImage

  /// Updates the catalog with the changes of builders. Only the writer of the catalog calls it.
  /// - Parameter unreadable: called for each image that cannot be stored, at each attempt.
  /// - Returns: the number of new images.
  func update(
    _ catalog: Catalog, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int

  /// Metrics of the storage.
  var figures: [SourceFigure] { get }

  /// The outage that hides changes of the images; nil if there is none.
  var outage: SourceOutage? { get }
}

/// Images that are rows of a catalog, which several servers share. Each is looked up when a request needs it.
package final class SharedCatalogRepository: ImageRepository {
  package let root: String
  package let catalog: Catalog
  package let open: OpenArchives
  package let archiveErrors = ArchiveErrors()
  let rows: CatalogCache
  /// Held while the catalog is updated.
  private let updating = Mutex<Void>(())

  /// - Parameters:
  ///   - name: the name of the library in messages.
  ///   - openLimit: the maximum number of open archives, besides those of responses in progress.
  package init(
    _ source: any RemoteImageSource, name: String, openLimit: Int = 512, catalog: Catalog
  ) throws(StorageError) {
    root = name
    self.catalog = catalog
    let open = OpenArchives(limit: openLimit)
    self.open = open
    rows = CatalogCache(catalog, source) { isGone in open.removeAll(where: isGone) }
    rows.start()
  }

  package func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive? {
    try opened(rows.entry(id, generation: generation()))
  }

  package func archive(_ id: ImageID, generation: @autoclosure () -> UInt64?) throws(StorageError)
    -> TileArchive?
  {
    try opened(rows.entry(id, generation: generation()))
  }

  /// Returns the archive of an entry; nil if it was removed in the meantime.
  private func opened(_ entry: LibraryEntry?) throws(StorageError) -> TileArchive? {
    guard let entry else { return nil }
    do throws(StorageError) { return try open.archive(entry) } catch {
      switch error.kind {
      case .notFound: return nil
      case .unreachable: break
      case .unreadable: archiveErrors.add(entry, error.reason)
      }
      throw error
    }
  }

  package func entry(_ id: ImageID) throws(StorageError) -> LibraryEntry? {
    try rows.entry(id, generation: nil)
  }

  package func lookup(
    of ids: @autoclosure () -> [ImageID], generation: @autoclosure () -> UInt64?
  ) -> (any Pending)? {
    rows.lookup(of: ids(), generation: generation())
  }

  package func isUndecided(_ id: ImageID) -> Bool {
    do throws(StorageError) { return try entry(id) == nil && !catalog.isReachable } catch { return true }
  }

  package func asksDatabase(about id: ImageID) -> Bool {
    do throws(StorageError) {
      guard let found = try catalogEntry(id) else { return true }
      return found.entry.book != nil
    } catch { return false }
  }

  package func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing { try catalog.list(selection, after: cursor, limit: limit) }

  /// Returns the images that were made from a file, also those that builders have just written, unless these cannot be
  /// read.
  package func images(madeFrom digest: String) throws(StorageError) -> [MadeImage] {
    if refresh() { _ = try? updateCatalog() }
    return [MadeImage](try catalog.entries(madeFrom: digest))
  }

  package func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool {
    try catalog.reserve(id, for: upload)
  }

  package func release(uploads: [String]) throws(StorageError) { try catalog.release(uploads) }

  package var settlingTime: Duration { .seconds(10) }

  package var trash: any TrashStore { SharedTrash(library: self) }

  /// Writes the change only if the image is unchanged since it was read.
  package func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome {
    for _ in 0..<4 {
      guard let known = try rows.fresh(id) else { return .notFound }
      let (outcome, new) = LibraryEditor.edited(
        known.sidecar?.xmp ?? [], edit, isPrivate: false, if: isCurrent)
      guard let new else { return outcome }
      let listed = try rows.listed(known.row, new)
      let version = known.sidecar?.version ?? 0
      guard try catalog.write(sidecar: new, of: listed, after: version) else { continue }
      // The change is stored, even if the database cannot be queried now.
      _ = try? rows.fresh(id)
      return .done
    }
    return .changedMeanwhile
  }

  /// Waits for a short time, because other servers depend on the changes that this one finds.
  package func waitForChange() { usleep(400_000) }

  package func refresh() -> Bool { catalog.isWriter }

  @discardableResult
  package func updateCatalog(
    readsAll: Bool, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int {
    guard catalog.isWriter else { return 0 }
    let result: Result<Int, StorageError> = updating.withLock { _ in
      do throws(StorageError) {
        return .success(try rows.update(isCancelled: isCancelled, unreadable: unreadable))
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  package func reload() { _ = try? updateCatalog() }

  package func removals(since mark: inout RemovalMark, _ removed: ([ImageID]) -> Void) throws(StorageError) {
    // The catalog keeps changes for an hour.
    if let time = mark.time, time + .seconds(3000) < .now { mark.place = nil }
    guard let last = mark.place else {
      let place = try catalog.place()
      try catalog.gone(since: catalog.now() - RemovalMark.span) { removed($0) }
      mark.place = place
      mark.time = .now
      return
    }
    let changes = try catalog.changes(behind: last)
    if let images = changes.images {
      let ids = Array(images)
      for start in stride(from: 0, to: ids.count, by: 1000) {
        removed(try catalog.gone(among: Array(ids[start..<min(start + 1000, ids.count)])))
      }
    } else {
      try catalog.gone(between: last, and: changes.place) { removed($0) }
    }
    mark.place = changes.place
    mark.time = .now
  }

  package var count: Int { rows.count }
  package func counted() -> Int { (try? catalog.count()) ?? 0 }
  package var isEmpty: Bool { false }
  package var unreadableArchiveCount: Int { 0 }
  package var wordlessCount: Int { 0 }
  package var hasOneWriter: Bool { true }
  package func lookForOutage() -> Bool { false }
  package var figures: [SourceFigure] { rows.figures }
  package var sourceOutage: SourceOutage? { rows.outage }
}
