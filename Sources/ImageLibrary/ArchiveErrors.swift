import Synchronization
import TileStorage
import ZigguratConcurrency

/// The archives that could not be read. Each version of an archive is counted and reported once, whichever request
/// finds it.
package final class ArchiveErrors: Sendable {
  private let observation = ObserverList<String>()
  private let versions = Atomic<Int>(0)

  package init() {}

  /// The number of unreadable versions of archives since the start.
  package var count: Int { versions.load(ordering: .relaxed) }

  /// Calls `body` with one line for every unreadable archive, with its image's id.
  package func observe(_ body: @escaping @Sendable (String) -> Void) { observation.observe(body) }

  /// - Parameter reason: the cause, which only the operator of the server may read.
  package func add(_ entry: LibraryEntry, _ reason: String) {
    guard entry.isFirstError() else { return }
    versions.wrappingAdd(1, ordering: .relaxed)
    observation.notify("the archive of '\(entry.id)' cannot be read: \(reason)")
  }
}
