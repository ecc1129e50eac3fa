import Glibc

extension AtomicFile {
  /// Copies a file with its mode and modification time. The copy gets its name when it is whole and on the disk.
  /// - Parameter replacing: whether a file of that name is replaced; otherwise such a file is an error (EEXIST).
  package static func copy(_ from: String, to: String, replacing: Bool) throws(StorageError) {
    let action = "copy \(from)"
    let source = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard source >= 0 else { throw StorageError(action, errno: errno) }
    defer { close(source) }
    var status = stat()
    guard fstat(source, &status) == 0 else { throw StorageError(action, errno: errno) }
    let copy = try AtomicFile(destination: to)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(source, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StorageError(action, errno: errno) }
      if count == 0 { break }
      try buffer.withUnsafeBufferPointer { (bytes) throws(StorageError) in
        try copy.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])))
      }
    }
    try copy.setTime(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    try copy.publish(mode: status.st_mode & 0o777, replacing: replacing)
  }
}
