import Glibc

/// A file under construction beside its destination. Nothing has the destination's name before `publish` renames the
/// whole file.
///
/// A lock distinguishes a partial file in use from the leftover of a killed build.
///
/// Not for several threads at a time.
package final class AtomicFile {
  /// The possible writers of a file whose descriptor was given to another process.
  package enum Writers {
    case none
    case some
    /// The file system has no leases of its own (F_SETLEASE in fcntl(2)), with which writers are detected.
    case unknown
  }

  package static let prefix = ".ziggurat-"
  package static let suffix = ".partial"

  package let destination: String
  private let path: String
  /// The descriptor, open for reading and writing until `withdraw`.
  package private(set) var descriptor: Int32
  /// The descriptor that holds the lock. It is `descriptor`; for a file that another process writes, a separate one,
  /// which no other process can unlock.
  private let lock: Int32
  private var isOpen = true

  /// - Parameter isHandedOut: whether `descriptor` is given to another process, and taken back with `withdraw`.
  package init(destination: String, isHandedOut: Bool = false) throws(StorageError) {
    self.destination = destination
    let folder = parentFolder(destination)
    while true {
      var template = Array("\(folder)/\(Self.prefix)XXXXXX\(Self.suffix)".utf8CString)
      let descriptor = mkstemps(&template, Int32(Self.suffix.utf8.count))
      guard descriptor >= 0 else { throw StorageError("write into \(folder)", errno: errno, in: folder) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let lock = isHandedOut ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : descriptor
      let isLocked = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0
      let error = errno
      var status = stat()
      if isLocked, fstat(lock, &status) == 0, status.st_nlink > 0 {
        self.descriptor = descriptor
        self.lock = lock
        self.path = path
        return
      }
      // Between open and lock, another builder may have removed it as a leftover.
      let isTaken = isLocked || error == (lock >= 0 ? EWOULDBLOCK : ENOENT)
      if !isTaken { unlink(path) }
      if isHandedOut, lock >= 0 { close(lock) }
      close(descriptor)
      guard isTaken else { throw StorageError("lock a file in \(folder)", errno: error) }
    }
  }

  deinit { abandon() }

  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try writeAll(bytes, to: descriptor, path: destination)
  }

  package func write(_ bytes: [UInt8]) throws(StorageError) {
    let result: Result<Void, StorageError> = bytes.withUnsafeBytes { bytes in
      do throws(StorageError) { return .success(try write(bytes)) } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Closes the descriptor for writing, and checks whether another process can still write the file. It could do so by
  /// a descriptor, or by mapped pages. A process that cannot write now cannot do so later. Can be called again.
  package func withdraw() -> Writers {
    precondition(lock != descriptor, "the file was handed out")
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    // A read lease is granted only while no process has the file open for writing.
    guard fcntl(lock, Self.setLease, F_RDLCK) == 0 else {
      // On NFS and SMB, the server refuses the lease, independent of processes on this machine.
      return errno == EAGAIN && LocalFileSystem.holds(lock) ? .some : .unknown
    }
    _ = fcntl(lock, Self.setLease, F_UNLCK)
    return .none
  }

  /// F_SETLEASE of <linux/fcntl.h>, which glibc's module for Swift hides.
  private static let setLease: Int32 = 1024

  /// The descriptor for reading the file's content, valid as long as the file.
  package var readable: Int32 { lock }

  /// Sets the modification and access times. The next `write` changes them again.
  /// - Parameter seconds: seconds since 1970.
  package func setTime(seconds: Int, nanoseconds: Int) throws(StorageError) {
    let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    guard futimens(descriptor, [time, time]) == 0 else {
      throw StorageError("write \(destination)", errno: errno)
    }
  }

  /// Gives the finished file its name. Power loss afterwards leaves the old file or the new one.
  /// - Parameters:
  ///   - mode: the file's mode; nil for that of a new file.
  ///   - replacing: whether a file of that name is replaced; otherwise such a file is an error (EEXIST).
  package func publish(mode: UInt32? = nil, replacing: Bool = true) throws(StorageError) {
    guard fchmod(lock, mode ?? 0o666 & ~Umask.value) == 0, fdatasync(lock) == 0,
      replacing ? rename(path, destination) == 0 : renameWithoutReplacing()
    else {
      let code = errno
      if !replacing && code == EEXIST || code == EISDIR {
        var status = stat()
        let isFolder = stat(destination, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        throw StorageError("write \(destination)", isFolder ? Self.folder : Self.taken, code: code)
      }
      throw StorageError("write \(destination)", errno: code, in: parentFolder(destination))
    }
    release()
  }

  /// The reason of an error if a file may not be replaced.
  package static let taken = "a file of this name was added meanwhile"
  private static let folder = "a folder has this name; rename it"

  /// Renames the file and returns whether that succeeded; sets `errno` otherwise. A link fails if its name exists,
  /// unlike `rename`.
  private func renameWithoutReplacing() -> Bool {
    if link(path, destination) == 0 {
      unlink(path)
      return true
    }
    // For file systems without links.
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return false }
    guard access(destination, F_OK) != 0 else {
      errno = EEXIST
      return false
    }
    return rename(path, destination) == 0
  }

  /// Removes the file; does nothing after `publish`.
  package func abandon() {
    guard isOpen else { return }
    unlink(path)
    release()
  }

  private func release() {
    isOpen = false
    if descriptor >= 0, descriptor != lock { close(descriptor) }
    close(lock)
  }

  /// Removes leftovers of killed builds in `folder`; returns their number.
  package static func removeLeftovers(in folder: String) -> Int {
    guard let directory = opendir(folder) else { return 0 }
    defer { closedir(directory) }
    var removed = 0
    while let entry = readdir(directory) {
      guard let name = entry.pointee.name, name.hasPrefix(prefix), name.hasSuffix(suffix) else { continue }
      let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0, unlink("\(folder)/\(name)") == 0 { removed += 1 }
      close(descriptor)
    }
    return removed
  }
}

/// Writes all bytes, also if the system accepts few at a time.
///
/// - Parameter path: the file's name in errors.
package func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, path: @autoclosure () -> String
) throws(StorageError) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let buffer = UnsafeRawBufferPointer(rebasing: rest)
    let count = Glibc.write(descriptor, buffer.baseAddress, buffer.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw StorageError("write \(path())", errno: errno) }
    rest = rest.dropFirst(count)
  }
}

/// Returns the path up to the last slash; `.` if there is no slash.
package func parentFolder(_ path: String) -> String {
  // Compared by bytes: a combining accent at the start of a name would otherwise change the slash before it.
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
