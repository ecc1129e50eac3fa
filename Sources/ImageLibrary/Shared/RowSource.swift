package import TileStorage
package import ZigguratCatalog
package import ZigguratFiles

/// Where the archives lie that a catalog names which servers share.
package protocol RowSource: Sendable {
  /// The image of a row; nothing is asked for it.
  func image(_ row: ArchiveRow) -> SourceImage

  /// Brings the catalog to what builders have written since; called by the one server that writes it.
  /// - Parameter unreadable: told of each image that cannot be taken in, whenever it is tried.
  /// - Returns: how many images were new.
  func update(
    _ catalog: Catalog, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
  ) throws(StorageError) -> Int

  /// What a monitor is told of it.
  var figures: [SourceFigure] { get }

  /// Since when changes are not seen; nil while they are.
  var outage: SourceOutage? { get }
}

/// The source of a library that has no list of its images.
struct NoImages: LibrarySource {
  func version() -> Int { 0 }
  func images() -> [SourceImage] { [] }
}

extension Library {
  /// A library whose images are rows of a catalog that servers share: each is asked for when somebody wants it.
  /// - Parameter name: what stands for the folder in errors.
  package convenience init(
    _ rows: any RowSource, name: String, openLimit: Int = 512, catalog: Catalog
  ) throws(StorageError) {
    let open = OpenArchives(limit: openLimit)
    let known = KnownImages(catalog, rows) { isGone in open.removeAll(where: isGone) }
    try self.init(root: name, source: NoImages(), rows: known, catalog: catalog, open: open)
    known.start()
  }

  /// Whether images may have to be asked for before it is known whether they are there.
  package var asksForImages: Bool { rows != nil }

  /// What has to be waited for before it is known whether there are such images; nil where that is known, or cannot be
  /// known now.
  /// - Parameter generation: that is wanted of them.
  package func arrival(of ids: [ImageID], generation: UInt64? = nil) -> TileArrival? {
    rows?.arrival(of: ids, generation: generation)
  }

  /// The image of that id; nil where there is none. Throws where that cannot be told now.
  package func entry(_ id: ImageID) throws(StorageError) -> LibraryEntry? {
    guard let rows else { return current.entry(id) }
    return try rows.entry(id, generation: nil)
  }

  /// The archive of an image, or nil where there is none of that id; a former one where that is wanted and there still.
  /// - Parameters:
  ///   - id: UTF-8, decoded.
  ///   - generation: that somebody names.
  package func archive(
    _ id: UnsafeRawBufferPointer, generation: UInt64?
  ) throws(StorageError) -> TileArchive? {
    guard let rows else { return try archive(id) }
    return try opened(rows.entry(id, generation: generation))
  }

  package func archive(_ id: ImageID, generation: UInt64?) throws(StorageError) -> TileArchive? {
    guard let rows else { return try archive(id) }
    return try opened(rows.entry(id, generation: generation))
  }
}
