import Foundation
import Glibc

/// A temporary file without a lasting name: it disappears with its last owner, however the process ends.
package final class TemporaryFile: Sendable {
  package let descriptor: Int32

  /// Creates the file in the folder for temporary files.
  package init() throws(StorageError) {
    let folder = NSTemporaryDirectory()
    var template = Array("\(folder)/ziggurat-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw StorageError("write into \(folder)", errno: errno) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// The free bytes in the folder for temporary files; nil if the system does not report them.
  package static var freeBytes: Int? { ZigguratFiles.freeBytes(at: NSTemporaryDirectory()) }

  /// Appends bytes; not for several threads at a time.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try writeAll(bytes, to: descriptor, path: NSTemporaryDirectory())
  }

  /// Returns all bytes of a range; nil if they cannot be read.
  package func bytes(_ range: Range<Int>) -> [UInt8]? {
    if range.isEmpty { return [] }
    var isRead = true
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
      while filled < range.count {
        let got = pread(
          descriptor, buffer.baseAddress! + filled, range.count - filled, off_t(range.lowerBound + filled))
        if got < 0, errno == EINTR { continue }
        guard got > 0 else {
          isRead = false
          return
        }
        filled += got
      }
    }
    return isRead ? bytes : nil
  }
}
