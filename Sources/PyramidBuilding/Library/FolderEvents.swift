import Glibc

/// Wakes whoever waits when something happens in a set of folders (inotify(7)).
///
/// It tells that, not what: a queue that overflowed, a folder that was renamed and a file system that
/// sends no events (a network's) are then no cases of their own, since the folders are read again anyhow.
package final class FolderEvents {
  private let descriptor: Int32
  private static let kinds =
    UInt32(IN_CLOSE_WRITE) | UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
    | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

  package init() { descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Listens to these folders too; those that are listened to already stay. Returns how many cannot be
  /// listened to, because they are gone or the user's limit of watches is reached.
  package func listen(to folders: [String]) -> Int {
    folders.count { inotify_add_watch(descriptor, $0, Self.kinds | UInt32(IN_ONLYDIR)) < 0 }
  }

  /// Returns true when something has happened, false after `milliseconds` or a signal.
  package func wait(milliseconds: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // A descriptor below zero only waits.
    guard poll(&state, 1, milliseconds) > 0 else { return false }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 8)
    defer { buffer.deallocate() }
    while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
    return true
  }
}
