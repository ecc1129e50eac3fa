import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

extension Visitor {
  /// What the visitor sees of the library: first the images of the space that is unlocked, then everybody's,
  /// each in the order that is asked for. A space's own cursors and folders tell themselves apart as its ids do.
  func list(
    _ library: any ImageRepository, _ selection: LibrarySelection, after cursor: String?, limit: Int
  ) throws(StorageError) -> LibraryListing {
    guard let space else { return try library.list(selection, after: cursor, limit: limit) }
    let spaceCursor = cursor.flatMap(ImageID.unmarked)
    let inSpace = cursor == nil || spaceCursor != nil
    var ownSelection = selection
    let place = selection.scope.place
    let (isOfSpace, isOfLibrary) = (place?.isPrivate != false, place?.isPrivate != true)
    if let own = place?.unmarked { ownSelection.scope.place = own }
    let own =
      try isOfSpace
      ? space.library.list(ownSelection, after: spaceCursor, limit: limit)
      : LibraryListing(entries: [], total: 0, next: nil)
    var entries: [CatalogEntry] = []
    if inSpace {
      entries = own.entries.map(\.marked)
      if let next = own.next {
        let total = try isOfLibrary ? library.list(selection, after: nil, limit: 1).total : 0
        return LibraryListing(
          entries: entries, total: own.total + total, next: "\(ImageID.privateMark)\(next)")
      }
    }
    guard isOfLibrary else { return LibraryListing(entries: entries, total: own.total, next: nil) }
    // One at least, so that the answer has a cursor to go on with.
    let room = max(limit - entries.count, 1)
    let open = try library.list(selection, after: inSpace ? nil : cursor, limit: room)
    return LibraryListing(entries: entries + open.entries, total: own.total + open.total, next: open.next)
  }
}
