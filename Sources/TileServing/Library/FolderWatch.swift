import CFileSystems
import Glibc
import Synchronization

/// Tells which names in a library's folders came, went or were written to (inotify(7)), so that nobody has to
/// read the folders for that.
///
/// On a network's file system others change folders without a word: there is no watch there.
final class FolderWatch: Sendable {
  /// What happened since the last look.
  struct Events {
    /// Paths of files that are not hidden.
    var files: Set<String> = []
    /// Folders in which something happened, whatever it was.
    var folders: Set<String> = []
  }

  private struct State {
    var folders: [Int32: String] = [:]
    var device: dev_t?
    /// Whether every folder is watched.
    var isWhole = true
  }

  private static let kinds =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
  /// The folder itself is another one, or events were lost.
  private static let vague =
    UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_Q_OVERFLOW)
    | UInt32(IN_IGNORED)
  private static let local: Set<Int> = [
    Int(EXT4_SUPER_MAGIC), Int(XFS_SUPER_MAGIC), Int(BTRFS_SUPER_MAGIC), Int(TMPFS_MAGIC),
    Int(OVERLAYFS_SUPER_MAGIC), Int(F2FS_SUPER_MAGIC),
  ]

  private let descriptor: Int32
  private let state = Mutex(State())

  /// Nil where `root` cannot be watched.
  init?(root: String) {
    var system = statfs()
    guard statfs(root, &system) == 0, Self.local.contains(Int(system.f_type)) else { return nil }
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  var isWhole: Bool { state.withLock { $0.isWhole } }

  /// To be called before the folder is read: nothing is missed between the two.
  /// - Parameter device: the folder's; what is mounted below may be a network's.
  func add(_ folder: String, device: dev_t) {
    state.withLock { state in
      guard state.isWhole else { return }
      let watch = inotify_add_watch(descriptor, folder, Self.kinds)
      if watch >= 0, state.device == nil || state.device == device {
        (state.folders[watch], state.device) = (folder, device)
      } else {
        // Gone since its name was read, or more than the user may watch.
        (state.isWhole, state.folders) = (false, [:])
      }
    }
  }

  /// Returns when something happened, or after that time.
  func wait(milliseconds: Int32) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&request, 1, milliseconds)
  }

  /// Nil where the folders have to be read: some are not watched, one came or went, or events were lost.
  func events() -> Events? {
    state.withLock { state in
      guard state.isWhole else { return nil }
      var events = Events()
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
      defer { buffer.deallocate() }
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return events }
        var at = 0
        while at < count {
          let event = buffer.load(fromByteOffset: at, as: inotify_event.self)
          let text = buffer.baseAddress! + at + MemoryLayout<inotify_event>.size
          at += MemoryLayout<inotify_event>.size + Int(event.len)
          guard event.mask & Self.vague == 0, let folder = state.folders[event.wd] else {
            state.isWhole = false
            return nil
          }
          events.folders.insert(folder)
          guard event.len > 0, let name = String(validatingCString: text.assumingMemoryBound(to: CChar.self)),
            !name.hasPrefix(".")
          else { continue }
          if event.mask & UInt32(IN_ISDIR) != 0 {
            state.isWhole = false
            return nil
          }
          events.files.insert("\(folder)/\(name)")
        }
      }
    }
  }
}
