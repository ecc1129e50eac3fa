import Synchronization
package import TileStorage
import ZigguratCatalog
package import ZigguratFiles

/// A repository that lists all of its images in memory, in a `LibraryTable`.
///
/// The table is replaced as a whole, so that every request sees one state. A replaced archive stays open until its last
/// response is sent.
package protocol TableRepository: ImageRepository {
  var images: ImageTable { get }

  /// Reads all images again. Called while no other thread reads.
  func read(_ previous: LibraryTable) throws(StorageError) -> LibraryTable

  /// Applies the changes since the last call. Called while no other thread reads.
  /// - Returns: the changed images; nil if the whole table was replaced.
  func takeChanges() -> [ImageID]?

  /// Returns a function that decides whether an update of the catalog must read an archive that looks unchanged.
  func needsReading() -> (LibraryEntry) -> Bool

  /// Returns the present id of an image or book whose source was renamed; nil if it was not.
  func newID(of old: ImageID, _ table: LibraryTable) -> ImageID?

  /// Whether changes of other files than archives and sidecars require an update of the catalog.
  var hasOtherNews: Bool { get }

  /// Updates the descriptions of books in the catalog.
  func updateBooks() throws(StorageError)
}

/// The images of a repository that lists them in memory, and the state of its catalog.
package final class ImageTable: Sendable {
  let table: Mutex<LibraryTable>
  /// Held while the images are read, so that an older state does not overwrite a change.
  let reading = Mutex<Void>(())
  /// Held until the catalog contains the changes that were noticed, so that the next reader finds them there.
  let refreshing = Mutex<Void>(())
  /// Held while the catalog is updated.
  let updating = Mutex<Void>(())
  /// The number of times that the whole catalog fell behind, and the last of them that an update has corrected.
  let delays = Mutex((fallen: 0, madeGood: 0))
  /// Images in the catalog without the metadata of their sidecars, which could not be read.
  let wordless = Mutex<Set<ImageID>>([])
  /// The number of archives that the last update of the catalog could not read.
  let unreadableCount = Atomic<Int>(0)

  init(_ table: LibraryTable) { self.table = Mutex(table) }
}

extension TableRepository {
  package func needsReading() -> (LibraryEntry) -> Bool { { _ in false } }
  package var hasOtherNews: Bool { false }
  package func updateBooks() throws(StorageError) {}
  package func newID(of old: ImageID, _ table: LibraryTable) -> ImageID? { nil }

  package func entry(_ id: ImageID) -> LibraryEntry? { current.entry(id) }

  package func archive(_ id: ImageID, generation: @autoclosure () -> UInt64?) throws(StorageError)
    -> TileArchive?
  {
    if isAway { throw .libraryIsAway }
    guard let entry = images.table.withLock({ $0.entry(id) }) else { return nil }
    return try opened(entry)
  }

  /// Returns the archive of an entry; nil if it was removed since the table was read.
  func opened(_ entry: LibraryEntry) throws(StorageError) -> TileArchive? {
    do throws(StorageError) { return try open.archive(entry) } catch {
      switch error.kind {
      case .notFound:
        if lookForOutage() || current.isUnmounted(entry.path) { throw .libraryIsAway }
        return nil
      case .unreachable: break
      case .unreadable:
        if lookForOutage() { throw .libraryIsAway }
        archiveErrors.add(entry, error.reason)
      }
      throw error
    }
  }

  package func isUndecided(_ id: ImageID) -> Bool {
    do throws(StorageError) {
      // An image whose disk is not mounted throws.
      _ = try catalogEntry(id)
      return isAway
    } catch { return error.isTemporary }
  }

  package func replacement(for ids: [ImageID?]) -> (index: Int, id: ImageID)? {
    let table = current
    guard ids.contains(where: { $0 != nil }),
      !ids.contains(where: { id in id.map { table.entry($0) != nil } ?? false })
    else { return nil }
    for (index, old) in ids.enumerated() {
      guard let old, !table.hasImages(below: old) else { continue }
      let other = old.otherForms.first { table.entry($0) != nil || table.hasImages(below: $0) }
      if let id = other ?? newID(of: old, table) { return (index, id) }
    }
    return nil
  }

  /// The current images.
  package var current: LibraryTable { images.table.withLock { $0 } }

  package var count: Int { images.table.withLock { $0.ids.count } }

  package var unreadableArchiveCount: Int { images.unreadableCount.load(ordering: .relaxed) }

  package func refresh() -> Bool {
    if lookForOutage() { return false }
    return images.refreshing.withLock { _ in
      let changed = images.reading.withLock { _ in takeChanges() }
      guard let changed else { return true }
      do throws(StorageError) {
        try updateCatalog(of: changed)
        try readMissingMetadata()
      } catch { images.delays.withLock { $0.fallen += 1 } }
      return catalog.needsUpdate || hasOtherNews || images.delays.withLock { $0.fallen > $0.madeGood }
    }
  }

  /// Replaces the table. Called while no other thread reads. Afterwards the catalog needs an update.
  func replace(by fresh: LibraryTable) {
    images.table.withLock { $0 = fresh }
    open.removeAll { fresh.entry($0.id) !== $0 }
    images.delays.withLock { $0.fallen += 1 }
  }

  package func reload() { reloadTable() }

  /// Reads all images again, and updates the catalog.
  func reloadTable() {
    images.reading.withLock { _ in
      if let fresh = try? read(current) { replace(by: fresh) }
    }
    _ = try? updateCatalog()
  }

  package func removals(since mark: inout RemovalMark, _ removed: ([ImageID]) -> Void) throws(StorageError) {
    let before = mark.ids
    mark.ids = current.ids
    if mark.time == nil {
      // Images that were deleted while no server ran, or while the caller was unreachable.
      let deleted = (try? trash.deletions(since: trash.now() - RemovalMark.span)) ?? []
      removed(deleted.flatMap(\.images))
    }
    mark.time = .now
    // The same array is equal without a comparison of its images.
    if before != mark.ids { removed(Self.removed(from: before, in: mark.ids)) }
  }

  /// Returns the ids that `after` does not contain. Both arrays are sorted.
  static func removed(from before: [ImageID], in after: [ImageID]) -> [ImageID] {
    var rest = after[...]
    return before.filter { id in
      while let first = rest.first, first < id { rest.removeFirst() }
      return rest.first != id
    }
  }
}
