import Synchronization
import TileStorage
import ZigguratFiles
import ZigguratThreads

/// Ids that are asked for together.
final class ImageQuestion: Sendable {
  private struct State {
    var ids: Set<ImageID> = []
    var waiting: [TileArrival.Observer]? = []
  }
  private let state = Mutex(State())
  /// Who makes whole answers, and may ask the catalog for them, holds up nobody who asks for images.
  private static let workers = WorkQueue(threads: 2, capacity: .max)

  var ids: Set<ImageID> { state.withLock { $0.ids } }

  func add(_ id: ImageID) { state.withLock { _ = $0.ids.insert(id) } }

  func observe(_ observer: TileArrival.Observer) {
    let isOpen = state.withLock { state in
      state.waiting?.append(observer)
      return state.waiting != nil
    }
    if !isOpen { observer.tell() }
  }

  func isAnswered() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
    var others: [TileArrival.Observer] = []
    for observer in waiting {
      if observer.isQuick { observer.tell() } else { others.append(observer) }
    }
    for observer in others { _ = Self.workers.submit(always: true) { observer.tell() } }
  }
}
