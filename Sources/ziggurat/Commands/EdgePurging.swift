import Files
import HTTPMessages
import ImageLibrary
import ObjectStore
import Synchronization

/// Has the caches in front of the server forget images that are gone from the library, however they went.
///
/// Every server of a library does so when it has seen that an image is gone: the last to see it asks when none answers
/// with the image any more.
final class EdgePurging: Sendable {
  private let queues: [PurgeQueue]
  /// What was in the library when it was looked at last; nothing without caches, since the table that shares it is
  /// copied when it changes.
  private let known: Mutex<[ImageID]>

  /// - Parameter addresses: where the caches are asked.
  init(_ addresses: [EdgeCache], of library: Library) {
    known = Mutex(addresses.isEmpty ? [] : library.current.ids)
    queues = addresses.map { cache in
      PurgeQueue(cache.forget) { isHeard in
        Output.error(
          isHeard ? "\(cache) forgets again" : "\(cache) cannot be asked to forget; it is asked again")
      }
    }
    for queue in queues { queue.start() }
  }

  /// To be called whenever the library may have changed.
  func look(at library: Library) {
    if queues.isEmpty { return }
    let ids = library.current.ids
    let before = known.withLock { known in
      defer { known = ids }
      return known
    }
    // The same array has the same images without a look at them.
    guard before != ids else { return }
    forget(Self.gone(from: before, in: ids))
  }

  func forget(_ ids: [ImageID]) {
    guard !ids.isEmpty else { return }
    let keys = ids.map { SurrogateKey(of: $0.text).text }
    for queue in queues { queue.add(keys) }
  }

  func stop() { for queue in queues { queue.stop() } }

  /// Of sorted ids those that the others, sorted too, do not have.
  static func gone(from before: [ImageID], in after: [ImageID]) -> [ImageID] {
    var rest = after[...]
    return before.filter { id in
      while let first = rest.first, first < id { rest.removeFirst() }
      return rest.first != id
    }
  }
}
