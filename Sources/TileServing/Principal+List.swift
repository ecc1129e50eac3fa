import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

/// One page of the images that a principal can see.
struct FoundListing {
  let entries: [FoundEntry]
  /// The number of images on all pages.
  let total: Int
  /// The position of the next page; nil after the last.
  let next: ListPosition?
}

extension Principal {
  /// Lists the images of the space that is unlocked before those of the library, each in the order of the selection.
  /// - Parameters:
  ///   - repository: the repository of the selection's folder or book; nil if it has neither.
  ///   - position: the end of the page before; nil for the first page.
  func list(
    _ library: any ImageRepository, _ selection: LibrarySelection,
    in repository: ImageReference.Repository?, after position: ListPosition?, limit: Int
  ) throws(StorageError) -> FoundListing {
    let libraryCursor = position.flatMap { $0.repository == .library ? $0.cursor : nil }
    var entries: [FoundEntry] = []
    var total = 0
    if let space, repository != .library {
      let cursor = position.flatMap { $0.repository == .space ? $0.cursor : nil }
      let own = try space.library.list(selection, after: cursor, limit: limit)
      total = own.total
      // A page that begins in the library needs no more of the space than its count.
      if libraryCursor == nil {
        entries = own.entries.map { FoundEntry($0, in: .space) }
        if let next = own.next {
          if repository == nil { total += try library.list(selection, after: nil, limit: 1).total }
          return FoundListing(entries: entries, total: total, next: ListPosition(next, in: .space))
        }
      }
    }
    guard repository != .space else { return FoundListing(entries: entries, total: total, next: nil) }
    // One at least, so that the listing has a position to go on from.
    let room = max(limit - entries.count, 1)
    let open = try library.list(selection, after: libraryCursor, limit: room)
    return FoundListing(
      entries: entries + open.entries.map { FoundEntry($0, in: .library) }, total: total + open.total,
      next: open.next.map { ListPosition($0, in: .library) })
  }
}
