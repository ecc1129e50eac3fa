package import Files
import Foundation
import Synchronization
import TileStorage

/// What was deleted from the library that is served, and what brings it back.
package final class Trash: Sendable {
  /// One deletion as it is told.
  package struct Deletion: Encodable {
    package let id: String
    package let images: [String]
    /// Seconds since 1970.
    package let deleted: Int
    package let expires: Int
  }

  private let library: Library
  private let folder: TrashFolder
  /// Seconds.
  private let keeps: Int
  private let turn = Mutex<Void>(())

  package init(_ library: Library, keeps: Int) {
    (self.library, self.keeps) = (library, keeps)
    folder = TrashFolder(library: library.root)
  }

  private static var now: Int { Int(Date().timeIntervalSince1970) }

  private func told(_ deletion: TrashFolder.Deletion) -> Deletion {
    Deletion(
      id: deletion.name, images: deletion.images, deleted: deletion.time, expires: deletion.time + keeps)
  }

  /// Moves images out of the library, durably.
  /// - Returns: the deletion, nil where there was nothing to delete; and the ids that are no image, whose tiles are
  ///   loose files, or that could not be moved. Where none could it throws.
  package func delete(_ ids: [String]) throws(StorageError) -> (deletion: Deletion?, refused: [String]) {
    try alone { () throws(StorageError) in
      let table = library.current
      let entries = ids.map { ($0, table.entry($0)) }
      let found = entries.compactMap(\.1).filter { !$0.path.hasSuffix(".dzi") }
      let refused = entries.filter { _, entry in entry.map { $0.path.hasSuffix(".dzi") } ?? true }.map(\.0)
      guard !found.isEmpty else { return (nil, refused) }
      let (deletion, failures) = folder.take(found.map(\.path))
      try library.renew(found.map { ($0.id, $0.path) })
      if deletion == nil, let error = failures.errors.first { throw error }
      return (deletion.map(told), refused + failures.ids.sorted())
    }
  }

  /// What can come back, the last deleted first.
  package var deletions: [Deletion] { folder.deletions.map(told) }

  /// Brings a deletion's images back.
  /// - Returns: those that are back, and those whose place another image has taken; nil where there is no such
  ///   deletion any more.
  package func restore(_ name: String) throws(StorageError) -> (restored: [String], taken: [String])? {
    guard let time = TrashFolder.time(ofDeletion: name), time + keeps > Self.now else { return nil }
    return try alone { () throws(StorageError) in
      guard let (restored, taken) = try folder.restore(name) else { return nil }
      // Also those whose words came back and whose place another has.
      try library.renew((restored + taken).map { ($0.id, $0.path) })
      return (restored.map(\.id).sorted(), taken.map(\.id).sorted())
    }
  }

  /// Removes for good what was kept for long enough, and what a killed program was removing.
  package func purge() { folder.purge(until: Self.now - keeps) }

  private func alone<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let result: Swift.Result<Result, StorageError> = turn.withLock { _ in
      do throws(StorageError) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
