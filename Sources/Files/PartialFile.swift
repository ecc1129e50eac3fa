import Glibc

/// A file under construction beside the place it will take: nothing has the destination's name before
/// `publish` renames it there, whole.
///
/// A lock tells a partial file at work from one that a killed builder left behind.
package final class PartialFile {
  package static let prefix = ".ziggurat-"
  package static let suffix = ".partial"

  package let destination: String
  private let path: String
  package let descriptor: Int32
  private var isOpen = true

  package init(destination: String) throws(StorageError) {
    self.destination = destination
    let folder = parentFolder(destination)
    while true {
      var template = Array("\(folder)/\(Self.prefix)XXXXXX\(Self.suffix)".utf8CString)
      let descriptor = mkstemps(&template, Int32(Self.suffix.utf8.count))
      guard descriptor >= 0 else { throw StorageError("write into \(folder)", errno: errno) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Between open and lock another builder may have taken it for a leftover and removed it.
      var status = stat()
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0 {
        self.descriptor = descriptor
        self.path = path
        return
      }
      close(descriptor)
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

  /// Sets the times of last change and use, which the next `write` changes again.
  /// - Parameter seconds: since 1970.
  package func setTime(seconds: Int, nanoseconds: Int) throws(StorageError) {
    let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    guard futimens(descriptor, [time, time]) == 0 else {
      throw StorageError("write \(destination)", errno: errno)
    }
  }

  /// Gives the finished file its name, replacing what had it. Power loss afterwards keeps one of the two.
  /// - Parameter mode: nil gives a new file's.
  package func publish(mode: UInt32? = nil) throws(StorageError) {
    guard fchmod(descriptor, mode ?? 0o666 & ~CreationMask.value) == 0, fdatasync(descriptor) == 0,
      rename(path, destination) == 0
    else { throw StorageError("write \(destination)", errno: errno) }
    isOpen = false
    close(descriptor)
  }

  /// Leaves nothing behind; does nothing after `publish`.
  package func abandon() {
    guard isOpen else { return }
    isOpen = false
    unlink(path)
    close(descriptor)
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
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}
