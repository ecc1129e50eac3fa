import Glibc

/// A source of events in a set of folders (inotify(7)). No other type requests them from the system.
package final class FileSystemEvents: Sendable {
  /// An event in a folder.
  package struct Event {
    /// The number of the folder, as `listen(to:)` returned it.
    package let folder: Int32
    /// The name of the created, removed or written file; nil for the folder itself, and if the name is not UTF-8.
    package let name: String?
    package let isFolder: Bool
    /// Whether the folder itself was replaced, or events were lost.
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

  /// - Parameter alsoAttributes: whether changes of access, times and links are events, too.
  package init(alsoAttributes: Bool) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    kinds = Self.kinds | (alsoAttributes ? UInt32(IN_ATTRIB) : 0)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Whether the system supports events. If it does not, waiting only waits.
  package var isOpen: Bool { descriptor >= 0 }

  /// Adds a folder; one that was added before stays.
  /// - Returns: the number of the folder in events; nil if it does not exist, or the user's limit of watches is
  ///   reached.
  package func listen(to folder: String) -> Int32? {
    let watch = inotify_add_watch(descriptor, folder, kinds)
    return watch < 0 ? nil : watch
  }

  /// Waits for an event. Returns true if there is one, false after `milliseconds` or a signal.
  package func wait(milliseconds: Int32) -> Bool {
    // With a negative descriptor, poll only waits.
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&state, 1, milliseconds) > 0
  }

  /// Returns the events since the last call.
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
