import Glibc
import TileStorage
package import ZigguratFiles

// A folder is unreachable, for example, after its share was unmounted under a running server. Its images are then
// unavailable. The listing stays as it was, because nothing was deleted.
extension FolderRepository {
  package var outage: String? { outageReason.withLock { $0 } }

  package var isAway: Bool { away.load(ordering: .relaxed) }

  package var unmountedFolders: [String] { current.unmounted.keys.sorted() }

  package var unreadableFolders: [String] { current.unreadableFolders.sorted() }

  @discardableResult
  package func lookForOutage() -> Bool { note(outage: current.outage(of: root)) }

  /// - Parameter reason: the reason of the outage; nil if the folder is reachable.
  @discardableResult
  func note(outage reason: String?) -> Bool {
    outageReason.withLock { $0 = reason }
    away.store(reason != nil, ordering: .relaxed)
    return reason != nil
  }

  /// Reads all images again. Ignores folders that were read while a share was mounted or unmounted.
  package func read(_ previous: LibraryTable) throws(StorageError) -> LibraryTable {
    let fresh = try LibraryTable(root: root, previous: previous, watches: watches)
    if note(outage: previous.outage(of: root, seenAs: fresh)) { throw .libraryIsAway }
    return fresh
  }

  package var figures: [SourceFigure] {
    [
      SourceFigure(
        "library_reachable", "1 while the library's folder can be reached, else 0.", isAway ? 0 : 1,
        isTotal: false)
    ]
  }
}

extension LibraryTable {
  /// Returns why the folder that was read is missing; `nil` if it is there, or if another library has its name.
  ///
  /// An unmounted share leaves another folder of the same name without images. That folder may contain files that mark
  /// it, or a catalog that a server created before the share was mounted.
  /// - Parameter fresh: the result of reading the folder now; `nil` if it was not read.
  func outage(of root: String, seenAs fresh: LibraryTable? = nil) -> String? {
    var status = stat()
    guard stat(root, &status) == 0 else { return StorageError("", errno: errno).reason }
    let now = Root(status)
    if let fresh, fresh.rootFolder != now { return "its folder changed while it was read" }
    guard now != rootFolder, !ids.isEmpty else { return nil }
    do throws(StorageError) {
      let found = if let fresh { fresh } else { try LibraryTable(root: root, previous: self) }
      guard found.ids.isEmpty else { return nil }
      return "another folder without images is in its place: is its share mounted?"
    } catch { return error.reason }
  }
}
