package import TileStorage
package import ZigguratCatalog
package import ZigguratConcurrency
package import ZigguratFiles
package import ZigguratMetadata

/// The images that a server serves, by id.
///
/// Each implementation has its own storage, rules for changes and ways to notice them. Errors
/// keep three cases apart: an image that does not exist (nil), one that cannot be reached now
/// (`StorageError.Kind.unreachable`), and one whose archive is damaged (`.unreadable`). Methods that may block on a disk or
/// a database say so; all others return at once.
package protocol ImageRepository: AnyObject, Sendable {
  /// The path of the folder, or the name of the storage, for messages.
  var root: String { get }
  var catalog: Catalog { get }
  var open: OpenArchives { get }
  var archiveErrors: ArchiveErrors { get }

  // MARK: Finding images

  /// Returns the archive of an image; nil if there is no such image.
  /// - Parameters:
  ///   - id: UTF-8, percent-decoded.
  ///   - generation: the version that a URL names. A repository that keeps replaced archives for a while returns that one
  ///     if it is still there.
  func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive?

  /// The same for a request that waited for `lookup(of:generation:)`, if there was anything to wait for.
  func archive(_ id: ImageID, generation: @autoclosure () -> UInt64?) throws(StorageError) -> TileArchive?

  /// Returns the record of an image; nil if there is no such image.
  func entry(_ id: ImageID) throws(StorageError) -> LibraryEntry?

  /// Returns what a request must wait for before the repository knows whether these images exist; nil if it knows, or cannot
  /// know at present.
  func lookup(
    of ids: @autoclosure () -> [ImageID], generation: @autoclosure () -> UInt64?
  ) -> (any Pending)?

  /// Whether it cannot be said at present that there is no such image or book.
  func isUndecided(_ id: ImageID) -> Bool

  /// Whether a description of this image needs a question to a database on another machine.
  func asksDatabase(about id: ImageID) -> Bool

  /// Returns the present id of an image or book whose source was renamed, or whose name is spelled in another normal form
  /// of Unicode.
  /// - Parameter ids: the ids that a path may mean, nil for a part that is no id.
  /// - Returns: which of `ids` has another id now, and that; nil if an image has one of `ids`, or none was renamed.
  func replacement(for ids: [ImageID?]) -> (index: Int, id: ImageID)?

  /// Whether the tiles of the image are loose files.
  func hasLooseTiles(_ id: ImageID) -> Bool

  // MARK: Listing. These block.

  /// Returns a page of the selected images, at most `limit` of them after `cursor`; a book is represented by its cover
  /// unless its pages are asked for.
  func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing

  /// Returns the images that were made from a file, by id.
  /// - Parameter digest: of the file's content, as build records have it.
  func images(madeFrom digest: String) throws(StorageError) -> [MadeImage]

  /// Returns the description of a book as a whole; nil if there is none.
  func description(ofBook id: ImageID) -> BookDescription?

  // MARK: Changing. These block.

  /// Changes the metadata of an image, durably, and updates the catalog. The caller excludes other edits by this process.
  /// - Parameter isCurrent: whether the image is as the editor saw it; called while no other process may write.
  func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome

  /// The trash, which keeps deleted images for a while.
  var trash: any TrashStore { get }

  /// Updates what is known of images whose files were changed by this process.
  /// - Parameters:
  ///   - images: with the paths of their archives.
  ///   - isWritten: false if another process may have changed them.
  func renew(_ images: [(id: ImageID, path: String)], isWritten: Bool) throws(StorageError)

  /// Reserves an id for an upload.
  /// - Returns: false if the id is taken.
  func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool

  /// Releases what was reserved for these uploads.
  func release(uploads: [String]) throws(StorageError)

  /// The longest time until an image that another process has added is listed.
  var settlingTime: Duration { get }

  // MARK: Keeping up with changes. These block.

  /// Returns when images may have changed, after a second at the latest.
  func waitForChange()

  /// Takes in what has changed; cheap if nothing has.
  /// - Returns: whether the catalog should be updated.
  func refresh() -> Bool

  /// Brings the catalog up to date: reads the archives that are new or have changed.
  /// - Parameters:
  ///   - readsAll: reads also those that look unchanged.
  ///   - unreadable: called for each archive that could not be read.
  /// - Returns: the number of archives that were read.
  @discardableResult
  func updateCatalog(
    readsAll: Bool, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int

  /// Reads everything again, whatever seems unchanged, and updates the catalog. What fails stays as it was.
  func reload()

  /// Calls `removed` with the images that have gone since `mark`, and moves the mark. The first call with a new mark names
  /// those of the last `RemovalMark.span`.
  func removals(since mark: inout RemovalMark, _ removed: ([ImageID]) -> Void) throws(StorageError)

  // MARK: Health

  /// The number of images as far as it is known.
  var count: Int { get }

  /// Counts the images; blocks.
  func counted() -> Int

  /// Whether it is certain that there are no images.
  var isEmpty: Bool { get }

  /// The number of archives that cannot be read and that are not listed.
  var unreadableArchiveCount: Int { get }

  /// The number of those archives, and the path of one; nil if there are none.
  var unreadableArchives: (count: Int, example: String)? { get }

  /// The number of images whose sidecars could not be read although nothing is wrong with them.
  var wordlessCount: Int { get }

  /// The folder whose disk receives changes; nil if there is none.
  var folder: String? { get }

  /// Whether another program made the folder, so that nothing is written into it.
  var isForeign: Bool { get }

  /// Whether several servers share the images and only one of them accepts changes.
  var hasOneWriter: Bool { get }

  /// Whether all images are unavailable at present.
  var isAway: Bool { get }

  /// Why all images are unavailable; nil if they are available.
  var outage: String? { get }

  /// Looks whether the images are available.
  /// - Returns: whether they are unavailable.
  @discardableResult
  func lookForOutage() -> Bool

  /// Folders on disks that are not mounted now, sorted. Their images are listed and unavailable.
  var unmountedFolders: [String] { get }

  /// Folders that this process cannot read, sorted. Their images are not listed.
  var unreadableFolders: [String] { get }

  /// Metrics of the storage.
  var figures: [SourceFigure] { get }

  /// Since when changes are not seen; nil while they are.
  var sourceOutage: SourceOutage? { get }
}

// What most repositories have in common.
extension ImageRepository {
  package func archive(_ id: ImageID) throws(StorageError) -> TileArchive? {
    try archive(id, generation: nil)
  }

  package func lookup(of ids: [ImageID]) -> (any Pending)? { lookup(of: ids, generation: nil) }

  package func renew(_ images: [(id: ImageID, path: String)]) throws(StorageError) {
    try renew(images, isWritten: true)
  }

  @discardableResult
  package func updateCatalog(
    isCancelled: () -> Bool = { false }, unreadable: (StorageError) -> Void = { _ in }
  ) throws(StorageError) -> Int {
    try updateCatalog(readsAll: false, isCancelled: isCancelled, unreadable: unreadable)
  }

  /// Returns what the catalog holds of one image, read from its archive and sidecar; nil if there is no such image.
  package func catalogEntry(
    _ id: ImageID
  ) throws(StorageError) -> (entry: CatalogEntry, archive: TileArchive)? {
    guard let entry = try entry(id), let archive = try archive(id) else { return nil }
    return (entry.catalogEntry(archive), archive)
  }

  /// Reports that an archive could not be read; ignores archives of other repositories.
  package func reportDamage(in archive: TileArchive, _ reason: String) {
    if let entry = open.entry(of: archive) { archiveErrors.add(entry, reason) }
  }

  /// The number of images that can be shown.
  package var readableCount: Int { max(0, count - unreadableArchiveCount) }

  package func lookup(
    of ids: @autoclosure () -> [ImageID], generation: @autoclosure () -> UInt64?
  ) -> (any Pending)? { nil }
  package func asksDatabase(about id: ImageID) -> Bool { false }
  package func replacement(for ids: [ImageID?]) -> (index: Int, id: ImageID)? { nil }
  package func hasLooseTiles(_ id: ImageID) -> Bool { false }
  package func description(ofBook id: ImageID) -> BookDescription? { nil }
  package func renew(_ images: [(id: ImageID, path: String)], isWritten: Bool) throws(StorageError) {}
  package func release(uploads: [String]) throws(StorageError) {}
  package var settlingTime: Duration { .zero }
  package func counted() -> Int { readableCount }
  package var isEmpty: Bool { count == 0 }
  package var unreadableArchives: (count: Int, example: String)? { nil }
  package var folder: String? { nil }
  package var isForeign: Bool { false }
  package var hasOneWriter: Bool { false }
  package var isAway: Bool { false }
  package var outage: String? { nil }
  package var unmountedFolders: [String] { [] }
  package var unreadableFolders: [String] { [] }
  package var sourceOutage: SourceOutage? { nil }
}

extension StorageError {
  /// All images of a library are unavailable, as when its share is unmounted.
  package static let libraryIsAway = StorageError(
    "open the library", "its folder cannot be reached", kind: .unreachable)

  /// A change of images that are only read.
  package static let libraryIsReadOnly = StorageError(
    "change the library", "its images cannot be changed here", kind: .unreadable)
}

/// Up to where the removals of a repository were reported.
package struct RemovalMark: Sendable {
  /// The images at the last look. A table that shares this array copies it only when it changes.
  var ids: [ImageID] = []
  /// The position in the changes of a shared catalog; nil before the first look.
  var place: Catalog.Place?
  var time: ContinuousClock.Instant?

  /// Seconds; longer than any cache keeps an answer (`s-maxage`).
  package static let span = 86_400

  package init() {}
}
