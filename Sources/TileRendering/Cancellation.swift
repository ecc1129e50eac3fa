import Synchronization

/// A wish that a render end early: asked for by one thread, looked for by the one that renders.
public final class Cancellation: Sendable {
  private let flag = Atomic(false)

  public init() {}

  public func ask() { flag.store(true, ordering: .relaxed) }

  public var isAsked: Bool { flag.load(ordering: .relaxed) }

  func check() throws(RenderError) { if isAsked { throw .cancelled } }
}
