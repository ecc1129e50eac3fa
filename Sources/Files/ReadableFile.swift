import Glibc

/// A file that is open for reading until its last owner releases it. It is read by place: its owners share it.
package final class ReadableFile: Sendable {
  package let descriptor: Int32

  /// `nil` if the file cannot be opened, for the reason in `errno`.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Bytes of the file; 0 if they cannot be counted.
  package var size: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Reads bytes from `offset` on, fewer at the end of the file.
  ///
  /// - Returns: the number of bytes; −1 if the file cannot be read, for the reason in `errno`.
  package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    var done = 0
    while done < bytes.count {
      let part = pread(descriptor, bytes.baseAddress! + done, bytes.count - done, offset + done)
      if part < 0, errno == EINTR { continue }
      if part < 0 { return -1 }
      if part == 0 { break }
      done += part
    }
    return done
  }

  /// Returns at most `count` bytes from `offset` on, as far as the file has them and they can be read.
  package func bytes(from offset: Int = 0, atMost count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: max(count, 0)) { buffer, done in
      done = max(read(into: UnsafeMutableRawBufferPointer(buffer), at: offset), 0)
    }
  }

  /// Returns the content, as far as it can be read.
  package func contents() -> [UInt8] { bytes(atMost: size) }
}
