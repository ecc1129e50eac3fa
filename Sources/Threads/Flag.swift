import Synchronization

/// Set once, by any thread.
package final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .relaxed) }

  package func set() { value.store(true, ordering: .relaxed) }
}
