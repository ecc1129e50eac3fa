import Glibc
package import TileGeometry
package import ZigguratFiles

/// Takes one image's tiles, front to back; the archive is there when `finish` returns, and not before.
///
/// Not for several threads at a time.
package protocol ArchiveWriter: AnyObject {
  /// - Parameters:
  ///   - index: the tile's, as `Pyramid.index(of:)` counts.
  ///   - crc: the CRC-32 of `bytes`.
  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError)

  /// Appends an entry that is not a tile: `scan-properties.xml`, `associated_images/thumbnail.jpg`.
  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError)

  /// Returns the archive's size in bytes.
  func finish() throws(StorageError) -> Int

  /// Leaves nothing behind; does nothing after `finish`.
  func abandon()
}

/// Where the archives of many images stand, each under its image's id.
package protocol ArchiveStore: Sendable {
  /// Makes what is missing and clears away what killed builders left.
  func prepare() throws(StorageError)

  /// What the archive was built from; nil where there is none or it tells nothing.
  func buildRecord(ofID id: ImageID) -> BuildRecord?

  /// The same of an archive that looks whole, as far as that is seen at little cost.
  func buildRecord(ofSoundID id: ImageID) -> BuildRecord?

  /// Whether the image's archive can be read and was not built from a source: another program made it.
  func isForeign(_ id: ImageID) -> Bool

  /// A writer whose archive becomes the image's when it is finished.
  /// - Parameter replacing: whether it replaces an archive of this id; otherwise that is an error (EEXIST).
  func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat, replacing: Bool
  ) throws(StorageError) -> any ArchiveWriter

  /// Writes the image's words anew and leaves its tiles as they are; see `ArchiveWords.rewrite`.
  /// - Returns: false where that cannot be done, so that the image is to be built.
  func rewrite(
    id: ImageID, _ words: (BuildRecord, _ own: ImageMetadata) -> ArchiveWords
  ) throws(StorageError) -> Bool

  /// The images below a folder, sorted; none where it costs much to list them.
  func pages(below folder: ImageID) -> [ImageID]

  /// The file that describes a book as a whole, at most 4 MB of it; nil where there is none.
  func bookFile(of book: ImageID) -> [UInt8]?

  /// Replaces it; nil removes it.
  func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError)

  /// Gives an archive another id, with what was written about it, and remembers the old one; see `ArchiveMove`.
  /// - Parameter pageName: of a page, what its new id has behind its book's; a book is renamed with its pages.
  /// - Returns: false where it cannot be moved, and is where it was.
  func move(_ old: ImageID, to new: ImageID, pageName: String?) throws(StorageError) -> Bool

  /// Writes moves down that archives exchange their ids by; nil if the store needs no journal for them.
  func journal(of moves: [MoveJournal.Move]) throws(StorageError) -> MoveJournal?

  /// Whether there is an archive of this id, be it damaged.
  func holds(_ id: ImageID) -> Bool

  /// How many images there are, whoever built them.
  func count() throws(StorageError) -> Int

  /// A file for another process to write the image's archive into; nil where archives are no plain files, so that
  /// their tiles have to come through `makeWriter`.
  /// - Parameter replacing: as of `makeWriter`.
  func makeFile(id: ImageID, replacing: Bool) throws(StorageError) -> ArchiveFile?

  /// Moves images to where they can come back from, with what was written about them, as one deletion.
  /// - Returns: what could not be moved, and is where it was.
  func trash(_ ids: [ImageID]) throws(StorageError) -> TrashFolder.Failures

  /// Moves to the trash what belonged to an image that another source has replaced: its metadata, and the original of an
  /// upload.
  /// - Parameter record: of the image before.
  func trashRest(ofReplaced id: ImageID, _ record: BuildRecord) throws(StorageError)

  /// Has everybody find what was built and removed until now, where that takes a word of its own.
  func announce() throws(StorageError)

  /// Forgets what was built and nobody was told of.
  func withdraw()

  /// Whether the last archive could not be written for a reason that no archive has a part in, and that may pass.
  var isAway: Bool { get }

  /// Calls `body` once everybody finds what was built until now; never where nobody will.
  /// - Returns: whether that was at once.
  @discardableResult
  func whenAnnounced(_ body: @escaping @Sendable () -> Void) -> Bool

  /// By what an image that was built is announced, for the builder that goes on where this one is killed before it was;
  /// nil where everybody finds it.
  func notice(of id: ImageID) -> String?

  /// Announces what a builder had built that was killed before it did so itself. What is no notice of this store, or of
  /// what it has no more, is passed over.
  /// - Parameter notices: in the order in which they were given.
  func adopt(_ notices: [String]) throws(StorageError)

  /// Removes for good what was moved there until then.
  /// - Parameter oldest: seconds since 1970.
  func purgeTrash(until oldest: Int) throws(StorageError)
}

extension ArchiveStore {
  /// A file that has its name is found by it.
  package func announce() throws(StorageError) {}

  package func withdraw() {}

  /// Of a folder it is said by what room there is.
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

  /// A writer whose archive replaces the image's, if there is one.
  package func makeWriter(
    id: ImageID, pyramid: Pyramid, format: TileFormat
  ) throws(StorageError) -> any ArchiveWriter {
    try makeWriter(id: id, pyramid: pyramid, format: format, replacing: true)
  }

  package func rewrite(
    id: ImageID, _ words: (BuildRecord, _ own: ImageMetadata) -> ArchiveWords
  ) throws(StorageError) -> Bool { false }

  package func buildRecord(ofSoundID id: ImageID) -> BuildRecord? { buildRecord(ofID: id) }

  package func pages(below folder: ImageID) -> [ImageID] { [] }

  /// Where archives are no plain files, books are their pages alone.
  package func bookFile(of book: ImageID) -> [UInt8]? { nil }

  package func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError) {}

  package func move(_ old: ImageID, to new: ImageID, pageName: String?) throws(StorageError) -> Bool { false }

  package func trashRest(ofReplaced id: ImageID, _ record: BuildRecord) throws(StorageError) {}

  package func journal(of moves: [MoveJournal.Move]) throws(StorageError) -> MoveJournal? { nil }

  package func holds(_ id: ImageID) -> Bool { buildRecord(ofID: id) != nil }
}

extension SZIWriter: ArchiveWriter {}

/// A library: an SZI archive per image, in folders as the ids have it.
package struct FolderStore: ArchiveStore {
  package let library: String

  package init(library: String) { self.library = library }

  package func prepare() throws(StorageError) {
    try FolderTree.make(library)
    for name in CatalogFile.names + [MovedImages.name] {
      try Enclosure.requireOwn(name, in: library)
    }
    FolderTree.removeLeftovers(below: library)
    try MoveJournal.finish(in: library)
  }

  package func buildRecord(ofID id: ImageID) -> BuildRecord? {
    (try? TileArchive(path: id.archive(in: library)))?.buildRecord
  }

  package func buildRecord(ofSoundID id: ImageID) -> BuildRecord? {
    guard let archive = try? TileArchive(path: id.archive(in: library)), archive.visibleFault == nil else {
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

  /// The path of an archive that is about to be written.
  private func place(of id: ImageID) throws(StorageError) -> String {
    let path = id.archive(in: library)
    try Enclosure(library).make(parentFolder(path))
    if access(path, F_OK) != 0 { try MovedImages(library: library).arrive(id) }
    return path
  }

  package func rewrite(
    id: ImageID, _ words: (BuildRecord, _ own: ImageMetadata) -> ArchiveWords
  ) throws(StorageError) -> Bool {
    try ArchiveWords.rewrite(archiveAt: id.archive(in: library), as: id.name, words)
  }

  package func pages(below folder: ImageID) -> [ImageID] {
    let found = (try? FolderTree.archives(at: "\(library)/\(folder)")) ?? []
    return found.compactMap { ImageID(archive: $0, below: library) }.sorted()
  }

  /// `book.json` in the folder of its pages.
  package static func bookFile(of book: ImageID, in library: String) -> String {
    "\(library)/\(book)/book.json"
  }

  package func bookFile(of book: ImageID) -> [UInt8]? {
    try? SidecarFile(path: Self.bookFile(of: book, in: library))?.contents(
      atMost: 4 << 20, within: Enclosure(library))
  }

  package func keep(bookFile bytes: [UInt8]?, of book: ImageID) throws(StorageError) {
    let path = Self.bookFile(of: book, in: library)
    if let bytes {
      try Enclosure(library).make(parentFolder(path))
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
    // A dry run makes no library.
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
