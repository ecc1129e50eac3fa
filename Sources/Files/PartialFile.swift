import Glibc

/// A file under construction beside the place it will take: nothing has the destination's name before
/// `publish` renames it there, whole.
///
/// A lock tells a partial file at work from one that a killed builder left behind.
///
/// Not for several threads at a time.
package final class PartialFile {
  /// Who could still write a file that was handed out.
  package enum Writers {
    case none
    case some
    /// The file system has no leases of its own (F_SETLEASE in fcntl(2)), by which that is found out.
    case unknown
  }

  package static let prefix = ".ziggurat-"
  package static let suffix = ".partial"

  package let destination: String
  private let path: String
  /// Open for reading and writing, until `takeBack`.
  package private(set) var descriptor: Int32
  /// Holds the lock: `descriptor`, or of a file that is handed out one of our own, which nobody else can unlock.
  private let lock: Int32
  private var isOpen = true

  /// - Parameter isHandedOut: `descriptor` goes to another process, and comes back with `takeBack`.
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
      // Between open and lock another builder may have taken it for a leftover, and removed it.
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

  /// Lets go of the way to write a file that was handed out, and finds out whether anybody else has one: a descriptor
  /// that was kept, or pages that were mapped. Whoever has none now gets none later. May be asked again.
  package func takeBack() -> Writers {
    precondition(lock != descriptor, "the file was handed out")
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    // A lease to read is given only while nobody has the file open for writing.
    guard fcntl(lock, Self.setLease, F_RDLCK) == 0 else {
      // Of NFS and SMB it is the server that gives none, whoever has the file open here.
      return errno == EAGAIN && LocalFileSystem.holds(lock) ? .some : .unknown
    }
    _ = fcntl(lock, Self.setLease, F_UNLCK)
    return .none
  }

  /// F_SETLEASE of <linux/fcntl.h>, which glibc's module for Swift hides.
  private static let setLease: Int32 = 1024

  /// The descriptor that the file's content is read by, which there is as long as the file.
  package var readable: Int32 { lock }

  /// Sets the times of last change and use, which the next `write` changes again.
  /// - Parameter seconds: since 1970.
  package func setTime(seconds: Int, nanoseconds: Int) throws(StorageError) {
    let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    guard futimens(descriptor, [time, time]) == 0 else {
      throw StorageError("write \(destination)", errno: errno)
    }
  }

  /// Gives the finished file its name. Power loss afterwards keeps the old file or the new one.
  /// - Parameters:
  ///   - mode: nil gives a new file's.
  ///   - replacing: whether a file of that name is replaced; otherwise that is an error (EEXIST).
  package func publish(mode: UInt32? = nil, replacing: Bool = true) throws(StorageError) {
    guard fchmod(lock, mode ?? 0o666 & ~CreationMask.value) == 0, fdatasync(lock) == 0,
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
    letGo()
  }

  /// The reason of an error if a file may not be replaced.
  package static let taken = "a file of this name was added meanwhile"
  private static let folder = "a folder has this name; rename it"

  /// Sets `errno` if it returns false. A link fails if its name exists, unlike `rename`.
  private func renameWithoutReplacing() -> Bool {
    if link(path, destination) == 0 {
      unlink(path)
      return true
    }
    // File systems without links.
    guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { return false }
    guard access(destination, F_OK) != 0 else {
      errno = EEXIST
      return false
    }
    return rename(path, destination) == 0
  }

  /// Leaves nothing behind; does nothing after `publish`.
  package func abandon() {
    guard isOpen else { return }
    unlink(path)
    letGo()
  }

  private func letGo() {
    isOpen = false
    if descriptor >= 0, descriptor != lock { close(descriptor) }
    close(lock)
  }

  /// Removes what killed builders left in `folder`; returns how many files that were.
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

/// Writes every byte, however few the system takes at a time.
///
/// - Parameter path: what an error calls the file.
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

/// The path up to the last slash; `.` where there is none.
package func parentFolder(_ path: String) -> String {
  // By bytes: an accent at the beginning of a name does not make the slash before it another.
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
