import Glibc
import Synchronization
package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
import ZigguratMetadata

/// The archives below one folder, by image id. They are opened on demand, and the least recently used are closed again.
///
/// Files that the kernel reports are read one by one. Otherwise the folders are read again when one of them has
/// changed.
package final class FolderRepository: TableRepository {
  package let root: String
  package let catalog: Catalog
  package let open: OpenArchives
  package let archiveErrors = ArchiveErrors()
  package let images: ImageTable
  package let isForeign: Bool
  let watches: Bool
  /// Whether the kernel has reported a change of a file that describes a book.
  let hasNewsOfBooks = Mutex(false)
  /// The decoded descriptions of books, weighed by bytes.
  let describedBooks = Mutex(LRUCache<ImageID, DescribedBook>(limit: 32 << 20))
  let outageReason = Mutex<String?>(nil)
  let away = Atomic<Bool>(false)
  /// Whether an update of the catalog has checked the permissions of all archives.
  private let hasCheckedPermissions = Atomic<Bool>(false)
  /// Held while images are deleted or restored.
  let deleting = Mutex<Void>(())

  /// Reads the names in the folder, but opens no archive yet.
  /// - Parameters:
  ///   - openLimit: the maximum number of open archives, besides those of responses in progress.
  ///   - watches: whether `refresh` will be called often.
  package init(root: String, openLimit: Int = 512, watches: Bool = false) throws(StorageError) {
    self.root = root
    self.watches = watches
    let table = try LibraryTable(root: root, previous: nil, watches: watches)
    images = ImageTable(table)
    // Folders of other programs are only read.
    let isForeign = table.entries.contains { !$0.path.hasSuffix(".szi") } || table.isOfOthers(root)
    self.isForeign = isForeign && !Catalog.exists(in: root)
    catalog = try Catalog(library: root, isReadOnly: self.isForeign)
    open = OpenArchives(limit: openLimit)
  }

  package var folder: String? { root }

  package func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive? {
    if away.load(ordering: .relaxed) { throw .libraryIsAway }
    guard let entry = images.table.withLock({ $0.entry(id) }) else { return nil }
    return try opened(entry)
  }

  package func hasLooseTiles(_ id: ImageID) -> Bool { entry(id)?.path.hasSuffix(".dzi") ?? false }

  package var trash: any TrashStore { self }

  package func needsReading() -> (LibraryEntry) -> Bool {
    // A change of permissions does not change the `FileVersion`. Checking each archive is too slow for every update.
    let checksPermissions = !hasCheckedPermissions.exchange(true, ordering: .relaxed)
    return { checksPermissions && readRefusal($0.path) != nil }
  }

  package var hasOtherNews: Bool { hasNewsOfBooks.withLock { $0 } }

  package func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool {
    !["", ".szi", ".dzi", ".zip"].contains { isNameTaken("\(root)/\(id)\($0)") }
  }
  package func waitForChange() { current.waitForChange() }

  package func takeChanges() -> [ImageID]? {
    // No state of the table is held meanwhile, because a change of one image would copy it. A folder that replaces the
    // watched one reports nothing.
    let (watch, isReplaced) = images.table.withLock { ($0.watch, !$0.isRoot(root)) }
    if !isReplaced, let watch, let images = changedImages(watch) { return take(images) }
    let current = current
    guard isReplaced || watch != nil || current.haveFoldersChanged, let fresh = try? read(current) else {
      return []
    }
    replace(by: fresh)
    return nil
  }

  package func reload() {
    hasCheckedPermissions.store(false, ordering: .relaxed)
    reloadTable()
  }

  /// Returns the images whose files the kernel has reported; nil if the folders must be read.
  private func changedImages(_ watch: FolderWatcher) -> [(id: ImageID, path: String)]? {
    guard let events = watch.events(), events.files.count <= 1000,
      images.table.withLock({ $0.accept(events.folders) })
    else { return nil }
    var images: [ImageID: String] = [:]
    for file in events.files {
      var path = file
      if path.hasSuffix(".dzi") { return nil }
      if path.hasSuffix("/\(BookDescription.fileName)") { hasNewsOfBooks.withLock { $0 = true } }
      let isSidecar = path.hasSuffix(SidecarFile.ending)
      let isArchive = { [".szi", ".zip"].contains(where: path.hasSuffix) }
      guard isSidecar || isArchive() else { continue }
      var ids = [ImageID(archive: path, below: root)]
      if isSidecar {
        path.removeLast(SidecarFile.ending.count)
        if isArchive() { ids.append(ImageID(archive: path, below: root)) }
      } else {
        // If an image is named `a.szi`, the file `a.szi.xmp` is not a sidecar of `a`.
        path.removeLast(4)
        if isArchive() { ids.append(ImageID(archive: path, below: root)) }
      }
      for id in ids.compactMap(\.self) {
        // An archive of this program takes precedence over the file that it may have been made from.
        let ending = [".szi", ".dzi", ".zip"].first { access("\(root)/\(id)\($0)", F_OK) == 0 } ?? ".szi"
        images[id] = "\(root)/\(id)\(ending)"
      }
    }
    return images.map { ($0.key, $0.value) }
  }

  /// Updates the table and the catalog without reading folders. The next request sees the changes.
  package func renew(_ written: [(id: ImageID, path: String)], isWritten: Bool) throws(StorageError) {
    // A change that is written now would end up in the empty folder below the mount point.
    for (_, path) in written where current.isUnmounted(path) { throw .libraryIsAway }
    let changed = images.reading.withLock { _ in take(written) }
    // The thread that handles events of the kernel may not have updated the catalog yet.
    do throws(StorageError) { try updateCatalog(of: isWritten ? written.map(\.id) : changed) } catch {
      // The table already has the change, so only an update of the whole catalog would find the difference.
      images.delays.withLock { $0.fallen += 1 }
      throw error
    }
  }

  /// Updates the table. Called while no other thread reads folders.
  /// - Returns: the ids of the changed images.
  private func take(_ changed: [(id: ImageID, path: String)]) -> [ImageID] {
    var changes: [ImageID: LibraryEntry?] = [:]
    for (id, path) in changed {
      let old = images.table.withLock { $0.entry(id) }
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        if old != nil, lookForOutage() { return [] }
        if old != nil { changes[id] = .some(nil) }
        continue
      }
      let (identity, sidecar) = (FileIdentity(status), SidecarFile(ofArchive: path))
      if let old, old.path == path, old.identity == identity, old.sidecar == sidecar { continue }
      changes[id] = images.table.withLock {
        $0.entry(id: id, path: path, identity: identity, sidecar: sidecar)
      }
    }
    guard !changes.isEmpty else { return [] }
    images.table.withLock { $0.replace(changes) }
    open.removeAll { changes[$0.id] != nil }
    return Array(changes.keys)
  }
}
