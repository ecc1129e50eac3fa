import Glibc
import Synchronization
public import TileStorage

/// The archives below one folder, by image id; opened when first asked for.
///
/// A table of what is there is made anew when a folder changes and swapped in whole, so that every
/// request sees one state, and an archive that was replaced lives on until its last answer is sent.
public final class Library: Sendable {
  public let root: String
  private let table: Mutex<LibraryTable>

  /// Reads the folder's names; archives are not opened yet.
  public init(root: String) throws(StorageError) {
    self.root = root
    table = Mutex(try LibraryTable(root: root, previous: nil))
  }

  /// The archive of an image, or nil where there is none of that id.
  /// - Parameter id: UTF-8, decoded.
  func archive(_ id: UnsafeRawBufferPointer) throws(StorageError) -> SZIArchive? {
    guard let entry = table.withLock({ $0.entry(id) }) else { return nil }
    return try entry.archive()
  }

  func archive(_ id: String) throws(StorageError) -> SZIArchive? {
    guard let entry = table.withLock({ $0.entry(id) }) else { return nil }
    return try entry.archive()
  }

  /// Ids after `cursor` in order, at most `limit`, that contain `text` in any case.
  func ids(after cursor: String?, limit: Int, containing text: String?) -> (ids: [String], hasMore: Bool) {
    let ids = table.withLock { $0.ids }
    let wanted = text?.lowercased()
    var found: [String] = []
    var at = cursor.map { cursor in ids.partitioningIndex { $0 > cursor } } ?? 0
    while at < ids.count {
      if wanted.map({ ids[at].lowercased().contains($0) }) ?? true {
        if found.count == limit { return (found, true) }
        found.append(ids[at])
      }
      at += 1
    }
    return (found, false)
  }

  var count: Int { table.withLock { $0.ids.count } }

  /// Looks whether folders have changed and takes in what has; cheap where nothing has.
  public func refresh() {
    let current = table.withLock { $0 }
    guard current.isStale, let fresh = try? LibraryTable(root: root, previous: current) else { return }
    table.withLock { $0 = fresh }
  }
}

extension [String] {
  /// The first index whose element satisfies `predicate`, where all that follow do, too.
  func partitioningIndex(_ predicate: (String) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
