import Glibc

/// What happens in a set of folders (inotify(7)): the one place that asks the system for it.
package final class FolderEvents: Sendable {
  /// One of them.
  package struct Event {
    /// Of the folder, as `listen(to:)` gave it.
    package let folder: Int32
    /// Of what came, went or was written to; nil for the folder itself, and where the name is no UTF-8.
    package let name: String?
    package let isFolder: Bool
    /// The folder itself is another one, or events were lost.
    package let isVague: Bool
  }

  private static let kinds =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
  private static let vague =
    UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_UNMOUNT) | UInt32(IN_Q_OVERFLOW)
    | UInt32(IN_IGNORED)

  private let descriptor: Int32
  private let kinds: UInt32

  /// - Parameter alsoAttributes: changes of access, times and links count, too.
  package init(alsoAttributes: Bool) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    kinds = Self.kinds | (alsoAttributes ? UInt32(IN_ATTRIB) : 0)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether the system tells anything; where not, waiting only waits.
  package var isOpen: Bool { descriptor >= 0 }

  /// Listens to the folder, too; one that is listened to already stays.
  /// - Returns: what its events are known by; nil where it is gone, or the user's limit of watches is reached.
  package func listen(to folder: String) -> Int32? {
    let watch = inotify_add_watch(descriptor, folder, kinds)
    return watch < 0 ? nil : watch
  }

  /// Returns true when something has happened, false after `milliseconds` or a signal.
  package func wait(milliseconds: Int32) -> Bool {
    // A descriptor below zero only waits.
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, milliseconds) > 0
  }

  /// Takes what has happened since the last call.
  package func take() -> [Event] {
    var events: [Event] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
    defer { buffer.deallocate() }
    while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
      var at = 0
      while at < count {
        let event = buffer.load(fromByteOffset: at, as: inotify_event.self)
        let text = buffer.baseAddress! + at + MemoryLayout<inotify_event>.size
        at += MemoryLayout<inotify_event>.size + Int(event.len)
        let name = event.len > 0 ? String(validatingCString: text.assumingMemoryBound(to: CChar.self)) : nil
        events.append(
          Event(
            folder: event.wd, name: name, isFolder: event.mask & UInt32(IN_ISDIR) != 0,
            isVague: event.mask & Self.vague != 0))
      }
    }
    return events
  }
}
