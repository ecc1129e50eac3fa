import Glibc
import Synchronization
package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles
import ZigguratMetadata

/// The archives below one folder, by image id; opened when asked for, and the least recently used closed
/// again.
///
/// A table of what is there is swapped in whole, so that every request sees one state, and an archive that was
/// replaced lives on until its last answer is sent. What the kernel tells of single files is taken in alone;
/// else the folders are read again when one of them has changed.
package final class Library: Sendable {
  package let root: String
  package let catalog: Catalog
  package let open: OpenArchives
  package let faults = ArchiveFaults()
  private let table: Mutex<LibraryTable>
  let updating = Mutex<Void>(())
  /// Held while the folders are read, so that a change is not overwritten by what was read before it.
  private let reading = Mutex<Void>(())
  /// Held until the catalog has what the watch has told of: who looks meanwhile finds it there.
  private let refreshing = Mutex<Void>(())
  /// How often the catalog fell behind as a whole, and up to which of these times an update has made it good.
  let delays = Mutex((fallen: 0, madeGood: 0))
  /// Images in the catalog without their sidecars' words, which could not be read.
  let wordless = Mutex<Set<ImageID>>([])
  /// The watch has told of a file that describes a book.
  let hasNewsOfBooks = Mutex(false)
  let source: (any LibrarySource)?
  /// Nil of a library whose images are listed in memory.
  let rows: KnownImages?
  /// Whether another program made the folder, so that nothing is written into it.
  package let isForeign: Bool
  let watches: Bool
  /// Bytes, by which books are weighed.
  let describedBooks = Mutex(LeastRecentlyUsed<ImageID, DescribedBook>(limit: 32 << 20))
  let outageReason = Mutex<String?>(nil)
  let away = Atomic<Bool>(false)
  /// Archives that the last update of the catalog could not read.
  let unreadableCount = Atomic<Int>(0)
  /// Whether an update of the catalog has looked at the permissions of all archives.
  let hasLookedAtPermissions = Atomic<Bool>(false)

  /// Reads the folder's names; archives are not opened yet.
  /// - Parameters:
  ///   - openLimit: archives that are open at once, besides those in answers in flight.
  ///   - watches: `refresh` will be called often.
  package init(root: String, openLimit: Int = 512, watches: Bool = false) throws(StorageError) {
    self.root = root
    self.watches = watches
    source = nil
    rows = nil
    let table = try LibraryTable(root: root, previous: nil, watches: watches)
    self.table = Mutex(table)
    // Folders of others' making are read and left as they are.
    let isForeign = table.entries.contains { !$0.path.hasSuffix(".szi") } || table.isOfOthers(root)
    self.isForeign = isForeign && !Catalog.exists(in: root)
    catalog = try Catalog(library: root, isReadOnly: self.isForeign)
    open = OpenArchives(limit: openLimit)
  }

  /// The images of `source` alone, of which nothing is written to the disk.
  /// - Parameter name: what stands for the folder in errors.
  package convenience init(
    _ source: any LibrarySource, name: String, openLimit: Int = 512
  ) throws(StorageError) {
    try self.init(
      root: name, source: source, rows: nil, catalog: Catalog(inMemoryOf: name),
      open: OpenArchives(limit: openLimit))
  }

  init(
    root: String, source: any LibrarySource, rows: KnownImages?, catalog: Catalog, open: OpenArchives
  ) throws(StorageError) {
    self.root = root
    watches = false
    isForeign = false
    self.source = source
    self.rows = rows
    self.catalog = catalog
    self.open = open
    table = Mutex(try LibraryTable(source, previous: nil))
  }

  /// The archive of an image, or nil where there is none of that id.
  /// - Parameter id: UTF-8, decoded.
  package func archive(_ id: UnsafeRawBufferPointer) throws(StorageError) -> TileArchive? {
    if let rows { return try opened(rows.entry(id, generation: nil)) }
    if away.load(ordering: .relaxed) { throw Self.outageError }
    guard let entry = table.withLock({ $0.entry(id) }) else { return nil }
    return try opened(entry)
  }

  package func archive(_ id: ImageID) throws(StorageError) -> TileArchive? {
    if let rows { return try opened(rows.entry(id, generation: nil)) }
    if away.load(ordering: .relaxed) { throw Self.outageError }
    guard let entry = table.withLock({ $0.entry(id) }) else { return nil }
    return try opened(entry)
  }

  /// Nil where the archive was withdrawn since its folder was read.
  func opened(_ entry: LibraryEntry?) throws(StorageError) -> TileArchive? {
    guard let entry else { return nil }
    do throws(StorageError) { return try open.archive(entry) } catch {
      switch error.kind {
      case .notThere:
        if lookForOutage() || current.isUnmounted(entry.path) { throw Self.outageError }
        return nil
      case .unreachable: break
      case .unreadable:
        if lookForOutage() { throw Self.outageError }
        faults.add(entry, error.reason)
      }
      throw error
    }
  }

  /// Whether the images are listed by a source instead of a folder.
  package var isInMemory: Bool { source != nil }

  package var count: Int { rows?.count ?? table.withLock { $0.ids.count } }

  /// The number of archives that the last update of the catalog could not read, and that are not listed.
  package var unreadableArchiveCount: Int { unreadableCount.load(ordering: .relaxed) }

  /// The number of images that can be shown.
  package var readableCount: Int { rows?.count ?? max(0, count - unreadableArchiveCount) }

  /// What is there now.
  package var current: LibraryTable { table.withLock { $0 } }

  /// Returns when a folder may have changed: after a second, or at once where the kernel tells; sooner where many servers
  /// wait for what one of them finds.
  package func waitForChange() {
    if rows == nil { current.waitForChange() } else { usleep(400_000) }
  }

  /// Looks whether folders have changed and takes in what has; cheap where nothing has.
  /// - Returns: whether the catalog should be updated, be it that somebody else is about to.
  package func refresh() -> Bool {
    if rows != nil { return catalog.isWriter }
    if lookForOutage() { return false }
    return refreshing.withLock { _ in
      let renewed = reading.withLock { _ -> [ImageID]? in
        // No state of the table is held meanwhile: it would be copied for the sake of one image.
        let watch = table.withLock { $0.watch }
        if let watch, let images = images(watch) { return take(images) }
        let current = current
        guard watch != nil || current.isStale(source), let fresh = try? read(current) else { return [] }
        replace(by: fresh)
        return nil
      }
      guard let renewed else { return true }
      do throws(StorageError) {
        try catalogue(renewed)
        try readMissingWords()
      } catch { delays.withLock { $0.fallen += 1 } }
      return catalog.needsUpdate || hasNewsOfBooks.withLock { $0 }
        || delays.withLock { $0.fallen > $0.madeGood }
    }
  }

  /// To be called while nobody else reads folders. The catalog is behind then.
  private func replace(by fresh: LibraryTable) {
    table.withLock { $0 = fresh }
    open.removeAll { fresh.entry($0.id) !== $0 }
    delays.withLock { $0.fallen += 1 }
  }

  /// Reads all folders whatever the kernel has told of them, and brings the catalog to what they hold; what fails
  /// stays as it was.
  package func readAgain() {
    reading.withLock { _ in
      if let fresh = try? read(current) { replace(by: fresh) }
    }
    hasLookedAtPermissions.store(false, ordering: .relaxed)
    _ = try? updateCatalog()
  }

  /// The images whose files the watch has told of; nil where the folders have to be looked at.
  private func images(_ watch: FolderWatch) -> [(id: ImageID, path: String)]? {
    guard let events = watch.events(), events.files.count <= 1000,
      table.withLock({ $0.accept(events.folders) })
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
        // With an image called `a.szi`, the file `a.szi.xmp` is no sidecar of `a`.
        path.removeLast(4)
        if isArchive() { ids.append(ImageID(archive: path, below: root)) }
      }
      for id in ids.compactMap(\.self) {
        // Our own archive stands before what it may have been made from.
        let ending = [".szi", ".dzi", ".zip"].first { access("\(root)/\(id)\($0)", F_OK) == 0 } ?? ".szi"
        images[id] = "\(root)/\(id)\(ending)"
      }
    }
    return images.map { ($0.key, $0.value) }
  }

  /// Takes in at once what became of these images, without reading folders: what was just written is seen by
  /// the next request.
  /// - Parameter isWritten: whether the caller has changed them; else who has, if anybody has, tells of it.
  package func renew(
    _ images: [(id: ImageID, path: String)], isWritten: Bool = true
  ) throws(StorageError) {
    guard source == nil else { return }
    // What was written now would lie in the empty folder below the disk.
    for (_, path) in images where current.isUnmounted(path) { throw Self.outageError }
    let changed = reading.withLock { _ in take(images) }
    // Also what the watch has just taken in: whoever does that may not have come to the catalog yet.
    try catalogue(isWritten ? images.map(\.id) : changed)
  }

  /// To be called while nobody else reads folders.
  /// - Returns: the ids of those that have changed.
  private func take(_ images: [(id: ImageID, path: String)]) -> [ImageID] {
    var changes: [ImageID: LibraryEntry?] = [:]
    for (id, path) in images {
      let old = table.withLock { $0.entry(id) }
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        if old != nil, lookForOutage() { return [] }
        if old != nil { changes[id] = .some(nil) }
        continue
      }
      let (identity, sidecar) = (FileIdentity(status), SidecarFile(ofArchive: path))
      if let old, old.path == path, old.identity == identity, old.sidecar == sidecar { continue }
      changes[id] = table.withLock { $0.entry(id: id, path: path, identity: identity, sidecar: sidecar) }
    }
    guard !changes.isEmpty else { return [] }
    table.withLock { $0.replace(changes) }
    open.removeAll { changes[$0.id] != nil }
    return Array(changes.keys)
  }

  private func read(_ previous: LibraryTable) throws(StorageError) -> LibraryTable {
    if let source { return try LibraryTable(source, previous: previous) }
    return try readFolders(previous)
  }
}
