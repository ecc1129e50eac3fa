import Glibc

/// A lock on a library's folder that only one build holds at a time, so that two do not do the same work twice.
///
/// It does not protect data: archives appear whole, whichever process writes them. It does not work on file systems
/// without locks. Its file exists as long as a build runs. If that build was killed, the file exists until the next
/// build ends.
package final class BuildLock: Sendable {
  private static let fileName = ".ziggurat-build.lock"

  private let path: String
  private let descriptor: Int32

  /// Waits until no other build holds the lock.
  ///
  /// - Parameters:
  ///   - isShared: whether other builds with a shared lock may hold it at the same time: shards of one plan.
  ///   - isWaiting: called before the first wait.
  ///   - isCancelled: called periodically; true ends the wait.
  /// - Returns: nil if there is no lock: the wait was cancelled, or the folder does not support locks.
  package init?(
    library: String, isShared: Bool, isWaiting: () -> Void, isCancelled: () -> Bool
  ) {
    path = "\(library)/\(Self.fileName)"
    var hasWaited = false
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
      guard descriptor >= 0 else { return nil }
      let hasLock = flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0
      let code = errno
      // The former holder may have removed the file since it was opened. Then the lock is on a removed file.
      if hasLock, isFile(descriptor, at: path) {
        self.descriptor = descriptor
        return
      }
      close(descriptor)
      guard hasLock || code == EWOULDBLOCK || code == EINTR else {
        // This folder does not support locks.
        unlink(path)
        return nil
      }
      if isCancelled() { return nil }
      if !hasLock, !hasWaited {
        isWaiting()
        hasWaited = true
      }
      usleep(200_000)
    }
  }

  deinit {
    // The last holder removes the file while no other process can have the lock.
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isFile(descriptor, at: path) { unlink(path) }
    close(descriptor)
  }
}

/// Whether a path leads to the file that is open.
private func isFile(_ descriptor: Int32, at path: String) -> Bool {
  var (open, named) = (stat(), stat())
  return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0 && open.st_ino == named.st_ino
    && open.st_dev == named.st_dev
}
