import Synchronization

/// A wish that a render end early: asked for by one thread, looked for by the one that renders.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package func ask() { flag.store(true, ordering: .relaxed) }

  package var isAsked: Bool { flag.load(ordering: .relaxed) }

  func check() throws(RenderError) { if isAsked { throw .cancelled } }
}
