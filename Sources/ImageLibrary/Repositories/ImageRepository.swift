package import TileStorage
package import ZigguratCatalog
package import ZigguratConcurrency
package import ZigguratFiles
package import ZigguratMetadata

/// The images that a server serves, by id.
///
/// Each implementation has its own storage, rules for changes and ways to notice them. Errors keep three cases apart:
/// an image that does not exist (nil), one that is unreachable (`StorageError.Kind.unreachable`), and one with a
/// damaged archive (`.unreadable`). Methods that may block on a disk or a database say so; all others return at once.
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
  ///   - generation: the version that a URL names. A repository that keeps replaced archives for a while returns that
  ///     version if it still exists.
  func archive(
    _ id: UnsafeRawBufferPointer, generation: @autoclosure () -> UInt64?
  ) throws(StorageError) -> TileArchive?

  /// Returns the same for a request that has waited for `lookup(of:generation:)`, if that was necessary.
  func archive(_ id: ImageID, generation: @autoclosure () -> UInt64?) throws(StorageError) -> TileArchive?

  /// Returns the record of an image; nil if there is no such image.
  func entry(_ id: ImageID) throws(StorageError) -> LibraryEntry?

  /// Returns the lookup that a request must wait for while the existence of these images is unknown. Nil if it is
  /// known, or cannot be known at present.
  func lookup(
    of ids: @autoclosure () -> [ImageID], generation: @autoclosure () -> UInt64?
  ) -> (any Pending)?

  /// Whether the existence of an image or book is unknown at present.
  func isUndecided(_ id: ImageID) -> Bool

  /// Whether the description of an image requires a query to a database on another machine.
  func asksDatabase(about id: ImageID) -> Bool

  /// Returns the present id of an image or book whose source was renamed, or whose name is in another normal form of
  /// Unicode.
  /// - Parameter ids: the ids that a path may mean; nil for a part that is not a valid id.
  /// - Returns: the index in `ids` and the present id; nil if an image has one of `ids`, or none was renamed.
  func replacement(for ids: [ImageID?]) -> (index: Int, id: ImageID)?

  /// Whether the tiles of the image are loose files.
  func hasLooseTiles(_ id: ImageID) -> Bool

  // MARK: Listing. These block.

  /// Returns at most `limit` of the selected images after `cursor`. A book is represented by its cover unless its pages
  /// are requested.
  func list(
    _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing

  /// Returns the images that were made from a file, by id.
  /// - Parameter digest: the digest of the file's content, as in build records.
  func images(madeFrom digest: String) throws(StorageError) -> [MadeImage]

  /// Returns the description of a book as a whole; nil if there is none.
  func description(ofBook id: ImageID) -> BookDescription?

  // MARK: Changing. These block.

  /// Changes the metadata of an image, durably, and updates the catalog. The caller excludes other edits by this
  /// process.
  /// - Parameter isCurrent: whether the image is as the editor saw it. Called while no other process can write.
  func edit(
    _ id: ImageID, _ edit: MetadataEdit, if isCurrent: () throws(MetadataUnavailable) -> Bool
  ) throws(StorageError) -> LibraryEditor.Outcome

  /// The trash, which keeps deleted images for a while.
  var trash: any TrashStore { get }

  /// Updates the records of images whose files were changed by this process.
  /// - Parameters:
  ///   - images: the images with the paths of their archives.
  ///   - isWritten: false if another process may have changed them.
  func renew(_ images: [(id: ImageID, path: String)], isWritten: Bool) throws(StorageError)

  /// Reserves an id for an upload.
  /// - Returns: false if the id is taken.
  func reserve(_ id: ImageID, for upload: String) throws(StorageError) -> Bool

  /// Releases the ids that were reserved for uploads.
  func release(uploads: [String]) throws(StorageError)

  /// The maximum time until an image of another process is listed.
  var settlingTime: Duration { get }

  // MARK: Keeping up with changes. These block.

  /// Waits until images may have changed, for a second at most.
  func waitForChange()

  /// Updates the list of images. The call is cheap if nothing has changed.
  /// - Returns: whether the catalog should be updated.
  func refresh() -> Bool

  /// Updates the catalog from the archives that are new or have changed.
  /// - Parameters:
  ///   - readsAll: whether to read unchanged archives, too.
  ///   - unreadable: called for each archive that could not be read.
  /// - Returns: the number of archives that were read.
  @discardableResult
  func updateCatalog(
    readsAll: Bool, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int

  /// Reads all images again, even unchanged ones, and updates the catalog. After an error everything stays as it was.
  func reload()

  /// Calls `removed` with the images that were removed since `mark`, and moves the mark. The first call with a new mark
  /// reports the removals of the last `RemovalMark.span` seconds.
  func removals(since mark: inout RemovalMark, _ removed: ([ImageID]) -> Void) throws(StorageError)

  // MARK: Health

  /// The number of images, as far as it is known.
  var count: Int { get }

  /// Counts the images; blocks.
  func counted() -> Int

  /// Whether there are certainly no images.
  var isEmpty: Bool { get }

  /// The number of archives that cannot be read and that are not listed.
  var unreadableArchiveCount: Int { get }

  /// The number of unreadable archives, and the path of one; nil if there are none.
  var unreadableArchives: (count: Int, example: String)? { get }

  /// The number of images whose sidecars could not be read, although they may be valid.
  var wordlessCount: Int { get }

  /// The folder whose disk stores changes; nil if there is none.
  var folder: String? { get }

  /// Whether another program made the folder, so that nothing is written into it.
  var isForeign: Bool { get }

  /// Whether several servers share the images and only one of them accepts changes.
  var hasOneWriter: Bool { get }

  /// Whether all images are unavailable at present.
  var isAway: Bool { get }

  /// The reason why all images are unavailable; nil if they are available.
  var outage: String? { get }

  /// Checks whether the images are available.
  /// - Returns: whether they are unavailable.
  @discardableResult
  func lookForOutage() -> Bool

  /// Folders on disks that are not mounted now, sorted. Their images are listed but unavailable.
  var unmountedFolders: [String] { get }

  /// Folders that this process cannot read, sorted. Their images are not listed.
  var unreadableFolders: [String] { get }

  /// Metrics of the storage.
  var figures: [SourceFigure] { get }

  /// The outage that hides changes of the images; nil if there is none.
  var sourceOutage: SourceOutage? { get }
}

// Defaults for most repositories.
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

  /// Returns the catalog entry of one image, read from its archive and sidecar; nil if there is no such image.
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
  /// The error if all images of a library are unavailable, for example because its share is unmounted.
  package static let libraryIsAway = StorageError(
    "open the library", "its folder cannot be reached", kind: .unreachable)

  /// The error for a change of read-only images.
  package static let libraryIsReadOnly = StorageError(
    "change the library", "its images cannot be changed here", kind: .unreadable)
}

/// The position up to which the removals of a repository were reported.
package struct RemovalMark: Sendable {
  /// The images at the last call. A table that shares this array copies it only when it changes.
  var ids: [ImageID] = []
  /// The position in the changes of a shared catalog; nil before the first look.
  var place: Catalog.Place?
  var time: ContinuousClock.Instant?

  /// A time in seconds that is longer than any cache keeps a response (`s-maxage`).
  package static let span = 86_400

  package init() {}
}
