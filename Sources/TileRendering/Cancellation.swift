import Synchronization

/// A request that a render end early: set by one thread, checked by the one that renders.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)
  private let condition: (@Sendable () -> Bool)?

  /// - Parameter condition: returns true when the render is to end; nil if only `ask` ends it.
  package init(when condition: (@Sendable () -> Bool)? = nil) { self.condition = condition }

  package func ask() { flag.store(true, ordering: .relaxed) }

  package var isAsked: Bool { flag.load(ordering: .relaxed) || condition?() == true }

  func check() throws(RenderError) { if isAsked { throw .cancelled } }
}
