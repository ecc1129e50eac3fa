import Glibc
import TileStorage
package import ZigguratFiles

/// A library whose folder cannot be reached, as when its share was unmounted under a running server.
///
/// Images are answered as unavailable then, and the listing stays as it was: nothing was deleted.
extension Library {
  /// Why the folder cannot be reached, as far as was seen; nil if it can.
  package var outage: String? { outageReason.withLock { $0 } }

  /// Whether the folder cannot be reached.
  package var isAway: Bool { away.load(ordering: .relaxed) }

  /// The library's folders on disks that are not mounted now, sorted. Their images are listed and unavailable.
  package var unmountedFolders: [String] { current.unmounted.keys.sorted() }

  /// The library's folders that this process cannot look into, sorted. Their images are not listed.
  package var unreadableFolders: [String] { current.unreadableFolders.sorted() }

  package static let outageError = StorageError(
    "open the library", "its folder cannot be reached", kind: .unreachable)

  /// Looks at the folder, and remembers what was seen.
  /// - Returns: whether it is away.
  @discardableResult
  package func lookForOutage() -> Bool {
    if let source { return !source.isReachable }
    return note(outage: current.outage(of: root))
  }

  /// - Parameter reason: nil if the folder is there.
  @discardableResult
  func note(outage reason: String?) -> Bool {
    outageReason.withLock { $0 = reason }
    away.store(reason != nil, ordering: .relaxed)
    return reason != nil
  }

  /// Reads the folders unless they are away. What was read while a share came or went does not count.
  func readFolders(_ previous: LibraryTable) throws(StorageError) -> LibraryTable {
    let fresh = try LibraryTable(root: root, previous: previous, watches: watches)
    if note(outage: previous.outage(of: root, seenAs: fresh)) { throw Self.outageError }
    return fresh
  }

  /// The metrics of a library that is a folder.
  var folderFigures: [SourceFigure] {
    [
      SourceFigure(
        "library_reachable", "1 while the library's folder can be reached, else 0.", isAway ? 0 : 1,
        isTotal: false)
    ]
  }
}

extension LibraryTable {
  /// Returns why the folder that was read is not there; `nil` if it is, or if another library has its name.
  ///
  /// An unmounted share leaves another folder of the same name without images. It may have files that mark it, or a catalog
  /// that a server made before the share was mounted.
  /// - Parameter fresh: what was read there now; `nil` if nothing was read.
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
