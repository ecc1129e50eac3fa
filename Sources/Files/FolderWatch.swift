package import Glibc
import Synchronization

/// Tells which names in a library's folders came, went or were written to (inotify(7)), so that nobody has to
/// read the folders for that.
///
/// On a network's file system others change folders without a word: there is no watch there.
package final class FolderWatch: Sendable {
  /// What happened since the last look.
  package struct Events {
    /// Paths of files that are not hidden.
    package var files: Set<String> = []
    /// Folders in which something happened, whatever it was.
    package var folders: Set<String> = []
  }

  private struct State {
    var folders: [Int32: String] = [:]
    var device: dev_t?
    /// Whether every folder is watched.
    var isWhole = true
  }

  private let system: FolderEvents
  private let state = Mutex(State())

  /// Nil where `root` cannot be watched.
  package init?(root: String) {
    guard LocalFileSystem.holds(root) else { return nil }
    system = FolderEvents(alsoAttributes: false)
    guard system.isOpen else { return nil }
  }

  package var isWhole: Bool { state.withLock { $0.isWhole } }

  /// To be called before the folder is read: nothing is missed between the two.
  /// - Parameter device: the folder's; what is mounted below may be a network's.
  package func add(_ folder: String, device: dev_t) {
    state.withLock { state in
      guard state.isWhole else { return }
      if let watch = system.listen(to: folder), state.device == nil || state.device == device {
        state.folders[watch] = folder
        state.device = device
      } else {
        // Gone since its name was read, or more than the user may watch.
        state.isWhole = false
        state.folders = [:]
      }
    }
  }

  /// Returns when something happened, or after that time.
  package func wait(milliseconds: Int32) {
    _ = system.wait(milliseconds: milliseconds)
  }

  /// Nil where the folders have to be read: some are not watched, one came or went, or events were lost.
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
