import Files
import Synchronization

/// Ids that are asked for together.
final class ImageQuestion: Sendable {
  private struct State {
    var ids: Set<ImageID> = []
    var waiting: [@Sendable () -> Void]? = []
  }
  private let state = Mutex(State())

  var ids: Set<ImageID> { state.withLock { $0.ids } }

  func add(_ id: ImageID) { state.withLock { _ = $0.ids.insert(id) } }

  func observe(_ body: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      state.waiting?.append(body)
      return state.waiting != nil
    }
    if !isOpen { body() }
  }

  func isAnswered() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
    for told in waiting { told() }
  }
}
