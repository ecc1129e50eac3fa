import Glibc

/// A lock on a folder, for moving and writing sidecars. It is held as long as the object exists.
package final class DirectoryLock: Sendable {
  private let path: String
  private let descriptor: Int32

  /// - Parameters:
  ///   - isShared: whether others may have a shared lock at the same time.
  ///   - waits: whether it waits for the lock; otherwise another process's lock is an error (EWOULDBLOCK).
  package init(_ path: String, isShared: Bool = false, waits: Bool = true) throws(StorageError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("lock \(path)", errno: errno) }
    while flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | (waits ? 0 : LOCK_NB)) != 0 {
      // `deinit` closes the descriptor: it runs if an initializer throws after all properties are set.
      guard errno == EINTR else { throw StorageError("lock \(path)", errno: errno) }
    }
  }

  deinit { close(descriptor) }

  /// Whether the path still leads to the locked folder.
  package var isInPlace: Bool {
    var (here, there) = (stat(), stat())
    return fstat(descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev
      && here.st_ino == there.st_ino
  }

  /// Writes the folder's names to the disk.
  package func synchronize() throws(StorageError) {
    guard fsync(descriptor) == 0 else { throw StorageError("write \(path)", errno: errno) }
  }
}
