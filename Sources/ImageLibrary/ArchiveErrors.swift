import Synchronization
import TileStorage
import ZigguratConcurrency

/// The archives that could not be read: each version of one is counted and told of once, whoever met it.
package final class ArchiveErrors: Sendable {
  private let observation = ObserverList<String>()
  private let versions = Atomic<Int>(0)

  package init() {}

  /// Versions of archives, since the start.
  package var count: Int { versions.load(ordering: .relaxed) }

  /// Has `body` told of every faulty archive, in one line with its image's id.
  package func observe(_ body: @escaping @Sendable (String) -> Void) { observation.observe(body) }

  /// - Parameter reason: what nobody but who runs the server is to read.
  package func add(_ entry: LibraryEntry, _ reason: String) {
    guard entry.isFirstError() else { return }
    versions.wrappingAdd(1, ordering: .relaxed)
    observation.notify("the archive of '\(entry.id)' cannot be read: \(reason)")
  }
}
