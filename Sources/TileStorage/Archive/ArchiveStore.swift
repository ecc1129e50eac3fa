import Glibc
package import TileGeometry
package import ZigguratFiles

/// A writer of one image's tiles, front to back. The archive exists when `finish` returns, and not before.
///
/// Not for several threads at a time.
package protocol ArchiveWriter: AnyObject {
  /// - Parameters:
  ///   - index: the tile's index by `Pyramid.index(of:)`.
  ///   - crc: the CRC-32 of `bytes`.
  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError)

  /// Appends an entry that is not a tile: `scan-properties.xml`, `associated_images/thumbnail.jpg`.
  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError)

  /// Returns the archive's size in bytes.
  func finish() throws(StorageError) -> Int

  /// Removes everything that was written; does nothing after `finish`.
  func abandon()
}

/// A store of the archives of many images, each under its image's id.
package protocol ArchiveStore: Sendable {
  /// Creates missing folders and removes the leftovers of killed builds.
  func prepare() throws(StorageError)

  /// Returns the record of the archive's build; nil if there is no archive, or it has no readable record.
  func buildRecord(ofID id: ImageID) -> BuildRecord?

  /// Returns the record of the archive's build, if the archive is whole as far as a cheap check can find.
  func buildRecord(ofSoundID id: ImageID) -> BuildRecord?

  /// Whether another program made the image's archive: it is readable and has no build record.
  func isForeign(_ id: ImageID) -> Bool

  /// Creates a writer whose archive becomes the image's when it is finished.
  /// - Parameter replacing: whether it replaces an archive of this id; otherwise such an archive is an error (EEXIST).
  func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) throws(StorageError) -> any ArchiveWriter

  /// Rewrites the image's metadata and keeps its tiles; see `ArchiveMetadata.rewrite`.
  /// - Returns: false if this is impossible, so that the image must be built.
  func rewrite(
    id: ImageID, _ metadata: (BuildRecord, _ own: ImageMetadata) -> ArchiveMetadata
  ) throws(StorageError) -> Bool

  /// Returns the images below a folder, sorted; empty if it costs much to list them.
  func pages(below folder: ImageID) -> [ImageID]

  /// Returns the file that describes a book as a whole, at most 4 MB; nil if there is no such file.
  func bookFile(of book: ImageID) -> [UInt8]?

  /// Replaces the file that describes a book; nil removes it.
  func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError)

  /// Moves an archive, with its metadata, to another id, and records the old id; see `ArchiveMove`.
  /// - Parameter pageName: for a page, the part of its new id behind its book's id; a book is renamed with its pages.
  /// - Returns: false if the archive cannot be moved, and is in its old place.
  func move(_ old: ImageID, to new: ImageID, pageName: String?) throws(StorageError) -> Bool

  /// Writes a journal of the moves by which archives exchange their ids; nil if the store needs no journal for them.
  func journal(of moves: [MoveJournal.Move]) throws(StorageError) -> MoveJournal?

  /// Whether an archive of this id exists, damaged or not.
  func holds(_ id: ImageID) -> Bool

  /// Returns the number of images, whichever program built them.
  func count() throws(StorageError) -> Int

  /// Creates a file into which another process writes the image's archive. Nil if archives are not plain files, so that
  /// their tiles must be written by `makeWriter`.
  /// - Parameter replacing: as in `makeWriter`.
  func makeFile(id: ImageID, replacing: Bool) throws(StorageError) -> ArchiveFile?

  /// Moves images, with their metadata, to the trash as one deletion.
  /// - Returns: the images that could not be moved, and are in their old places.
  func trash(_ ids: [ImageID]) throws(StorageError) -> TrashFolder.Failures

  /// Moves the rest of a replaced image to the trash: its metadata, and the original of an upload. The image has been
  /// built from another source since.
  /// - Parameter record: the build record of the image before.
  func trashRest(ofReplaced id: ImageID, _ record: BuildRecord) throws(StorageError)

  /// Publishes all builds and removals so far, if the store needs an announcement for that.
  func announce() throws(StorageError)

  /// Discards the builds that are not announced yet.
  func withdraw()

  /// Whether the last write failed for a temporary reason that no archive caused.
  var isAway: Bool { get }

  /// Calls `body` once all builds so far are published; never if they will not be.
  /// - Returns: whether `body` was called at once.
  @discardableResult
  func whenAnnounced(_ body: @escaping @Sendable () -> Void) -> Bool

  /// Returns the notice that announces a built image; nil if the image is already published. If this builder is killed
  /// before its announcement, a later one uses the notice.
  func notice(of id: ImageID) -> String?

  /// Announces the builds of a killed builder. Notices of another store, or about images that no longer exist, are
  /// ignored.
  /// - Parameter notices: in the order in which they were issued.
  func adopt(_ notices: [String]) throws(StorageError)

  /// Removes deletions up to this time for good.
  /// - Parameter oldest: seconds since 1970.
  func purgeTrash(until oldest: Int) throws(StorageError)
}

extension ArchiveStore {
  /// Does nothing: a file is published by its name.
  package func announce() throws(StorageError) {}

  package func withdraw() {}

  /// Whether the last write failed; always false, because for folders the free disk space is checked instead.
  package var isAway: Bool { false }

  @discardableResult
  package func whenAnnounced(_ body: @escaping @Sendable () -> Void) -> Bool {
    body()
    return true
  }

  package func notice(of id: ImageID) -> String? { nil }

  package func adopt(_ notices: [String]) throws(StorageError) {}

  package func isForeign(_ id: ImageID) -> Bool { false }

  package func makeFile(id: ImageID, replacing: Bool) throws(StorageError) -> ArchiveFile? { nil }

  /// Creates a writer whose archive replaces the image's, if there is one.
  package func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat
  ) throws(StorageError) -> any ArchiveWriter {
    try makeWriter(id: id, pyramid: pyramid, format: format, replacing: true)
  }

  package func rewrite(
    id: ImageID, _ metadata: (BuildRecord, _ own: ImageMetadata) -> ArchiveMetadata
  ) throws(StorageError) -> Bool { false }

  package func buildRecord(ofSoundID id: ImageID) -> BuildRecord? { buildRecord(ofID: id) }

  package func pages(below folder: ImageID) -> [ImageID] { [] }

  /// Returns nil: if archives are not plain files, books consist of their pages alone.
  package func bookFile(of book: ImageID) -> [UInt8]? { nil }

  package func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError) {}

  package func move(_ old: ImageID, to new: ImageID, pageName: String?) throws(StorageError) -> Bool { false }

  package func trashRest(ofReplaced id: ImageID, _ record: BuildRecord) throws(StorageError) {}

  package func journal(of moves: [MoveJournal.Move]) throws(StorageError) -> MoveJournal? { nil }

  package func holds(_ id: ImageID) -> Bool { buildRecord(ofID: id) != nil }
}

extension SZIWriter: ArchiveWriter {}

/// A library folder: one SZI archive per image, in subfolders according to the ids.
package struct FolderStore: ArchiveStore {
  package let library: String

  package init(library: String) { self.library = library }

  package func prepare() throws(StorageError) {
    try FolderTree.make(library)
    for name in CatalogFile.names + [IDRedirects.name] {
      try RootDirectory.requireOwn(name, in: library)
    }
    FolderTree.removeLeftovers(below: library)
    try MoveJournal.finish(in: library)
  }

  package func buildRecord(ofID id: ImageID) -> BuildRecord? {
    (try? TileArchive(path: id.archive(in: library)))?.buildRecord
  }

  package func buildRecord(ofSoundID id: ImageID) -> BuildRecord? {
    guard let archive = try? TileArchive(path: id.archive(in: library)), archive.visibleDefect == nil else {
      return nil
    }
    return archive.buildRecord
  }

  package func isForeign(_ id: ImageID) -> Bool {
    guard let archive = try? TileArchive(path: id.archive(in: library)) else { return false }
    return archive.buildRecord == nil
  }

  package func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) throws(StorageError) -> any ArchiveWriter {
    let destination = try place(of: id)
    let writer = try SZIWriter(destination: destination, name: id.name, pyramid: pyramid, format: format)
    writer.replaces = replacing
    return writer
  }

  package func makeFile(id: ImageID, replacing: Bool) throws(StorageError) -> ArchiveFile? {
    let destination = try place(of: id)
    let file = try ArchiveFile(destination: destination, name: id.name)
    file.replaces = replacing
    return file
  }

  /// Returns the path of an archive that is about to be written, and prepares its folder.
  private func place(of id: ImageID) throws(StorageError) -> String {
    let path = id.archive(in: library)
    try RootDirectory(library).make(parentFolder(path))
    if access(path, F_OK) != 0 { try IDRedirects(library: library).arrive(id) }
    return path
  }

  package func rewrite(
    id: ImageID, _ metadata: (BuildRecord, _ own: ImageMetadata) -> ArchiveMetadata
  ) throws(StorageError) -> Bool {
    try ArchiveMetadata.rewrite(archiveAt: id.archive(in: library), as: id.name, metadata)
  }

  package func pages(below folder: ImageID) -> [ImageID] {
    let found = (try? FolderTree.archives(at: "\(library)/\(folder)")) ?? []
    return found.compactMap { ImageID(archive: $0, below: library) }.sorted()
  }

  /// Returns the path of `book.json`, in the folder of its pages.
  package static func bookFile(of book: ImageID, in library: String) -> String {
    "\(library)/\(book)/book.json"
  }

  package func bookFile(of book: ImageID) -> [UInt8]? {
    try? SidecarFile(path: Self.bookFile(of: book, in: library))?.contents(
      atMost: 4 << 20, within: RootDirectory(library))
  }

  package func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError) {
    let path = Self.bookFile(of: book, in: library)
    if let bytes {
      try RootDirectory(library).make(parentFolder(path))
      try SidecarFile.publish(bytes, to: path)
    } else {
      try SidecarFile(path: path)?.remove()
    }
  }

  package func move(_ old: ImageID, to new: ImageID, pageName: String?) throws(StorageError) -> Bool {
    try ArchiveMove(old, to: new, in: library).run(pageName: pageName)
  }

  package func journal(of moves: [MoveJournal.Move]) throws(StorageError) -> MoveJournal? {
    try MoveJournal(moves, in: library)
  }

  package func holds(_ id: ImageID) -> Bool { access(id.archive(in: library), F_OK) == 0 }

  package func count() throws(StorageError) -> Int {
    // A dry run creates no library.
    if access(library, F_OK) != 0, errno == ENOENT { return 0 }
    return try FolderTree.archives(at: library).count
  }

  package func trash(_ ids: [ImageID]) throws(StorageError) -> TrashFolder.Failures {
    TrashFolder(library: library).take(ids.map { $0.archive(in: library) }).failures
  }

  package func trashRest(ofReplaced id: ImageID, _ record: BuildRecord) throws(StorageError) {
    try TrashFolder(library: library).takeRest(ofReplaced: id.archive(in: library), record)
  }

  package func purgeTrash(until oldest: Int) throws(StorageError) {
    TrashFolder(library: library).purge(until: oldest)
  }
}
