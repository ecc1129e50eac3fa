package import Glibc
import Synchronization

/// A file watcher that reports which names in a library's folders were created, removed or written (inotify(7)), so
/// that folders need not be read for that.
///
/// On a network file system, other machines change folders without an event: there is no watch there.
package final class FolderWatcher: Sendable {
  /// The events since the last call.
  package struct Events {
    /// Paths of files that are not hidden.
    package var files: Set<String> = []
    /// Folders in which any event happened.
    package var folders: Set<String> = []
  }

  private struct State {
    var folders: [Int32: String] = [:]
    var device: dev_t?
    /// Whether every folder is watched.
    var isWhole = true
  }

  private let system: FileSystemEvents
  private let state = Mutex(State())

  /// Creates a watch; nil if `root` cannot be watched.
  package init?(root: String) {
    guard LocalFileSystem.holds(root) else { return nil }
    system = FileSystemEvents(alsoAttributes: false)
    guard system.isOpen else { return nil }
  }

  package var isWhole: Bool { state.withLock { $0.isWhole } }

  /// Adds a folder. Must be called before the folder is read, so that no change in between is missed.
  /// - Parameter device: the folder's device; a mount below may be a network's.
  package func add(_ folder: String, device: dev_t) {
    state.withLock { state in
      guard state.isWhole else { return }
      if let watch = system.listen(to: folder), state.device == nil || state.device == device {
        state.folders[watch] = folder
        state.device = device
      } else {
        // It was removed since its name was read, or the user's limit of watches is reached.
        state.isWhole = false
        state.folders = [:]
      }
    }
  }

  /// Waits until an event happens, or until the timeout.
  package func wait(milliseconds: Int32) {
    _ = system.wait(milliseconds: milliseconds)
  }

  /// Returns the events. Nil if the folders have to be read: some are not watched, one was created or removed, or
  /// events were lost.
  package func events() -> Events? {
    state.withLock { state in
      guard state.isWhole else { return nil }
      var events = Events()
      for event in system.take() {
        guard !event.isVague, let folder = state.folders[event.folder] else {
          state.isWhole = false
          return nil
        }
        events.folders.insert(folder)
        guard let name = event.name, name.utf8.first != UInt8(ascii: ".") else { continue }
        if event.isFolder {
          state.isWhole = false
          return nil
        }
        events.files.insert("\(folder)/\(name)")
      }
      return events
    }
  }
}
