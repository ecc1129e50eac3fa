import Catalog
import Files
import ImageLibrary
import TileStorage

extension Visitor {
  /// What the visitor sees of the library: first the images of the space that is unlocked, then everybody's,
  /// each by id. Cursors are ids, so that a space's own tell themselves apart.
  func list(
    _ library: Library, after cursor: String?, limit: Int, containing text: String?
  ) throws(StorageError) -> LibraryListing {
    guard let space else {
      return try library.list(after: cursor, limit: limit, containing: text)
    }
    let spaceCursor = cursor.flatMap(ImageID.unmarked)
    let inSpace = cursor == nil || spaceCursor != nil
    let own = try space.library.list(after: spaceCursor, limit: limit, containing: text)
    var entries: [CatalogEntry] = []
    if inSpace {
      entries = own.entries.map { entry in
        var entry = entry
        entry.id = entry.id.marked
        return entry
      }
      if let next = own.next {
        let total = try library.list(after: nil, limit: 1, containing: text).total
        return LibraryListing(
          entries: entries, total: own.total + total, next: "\(ImageID.privateMark)\(next)")
      }
    }
    // One at least, so that the answer has a cursor to go on with.
    let room = max(limit - entries.count, 1)
    let open = try library.list(after: inSpace ? nil : cursor, limit: room, containing: text)
    return LibraryListing(entries: entries + open.entries, total: own.total + open.total, next: open.next)
  }
}
