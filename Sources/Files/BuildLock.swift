import Glibc

/// A lock on a library's folder that only one build holds at a time, so that two do not do the same work twice.
///
/// It protects nothing: archives appear whole whoever writes them. File systems without locks have none.
package final class BuildLock: Sendable {
  package static let fileName = ".ziggurat-build.lock"

  private let descriptor: Int32

  /// Waits until no other build holds the lock.
  ///
  /// - Parameters:
  ///   - isShared: whether other builds may hold it that share it, too: parts of one plan.
  ///   - isWaiting: called before the first wait.
  ///   - isCancelled: asked now and then; ends the wait.
  /// - Returns: nil if there is no lock: it was cancelled, or the folder cannot have one.
  package init?(
    library: String, isShared: Bool, isWaiting: () -> Void, isCancelled: () -> Bool
  ) {
    descriptor = open("\(library)/\(Self.fileName)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard descriptor >= 0 else { return nil }
    var hasWaited = false
    while flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
      // The initialized object is released, and closes the file.
      guard errno == EWOULDBLOCK || errno == EINTR, !isCancelled() else { return nil }
      if !hasWaited { isWaiting() }
      hasWaited = true
      usleep(200_000)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
