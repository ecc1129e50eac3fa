import Foundation
import Glibc

/// A file for what is needed for a while, which has no name that stays: it goes with its last owner, however the process
/// ends.
package final class NamelessFile: Sendable {
  package let descriptor: Int32

  /// In the folder for temporary files.
  package init() throws(StorageError) {
    let folder = NSTemporaryDirectory()
    var template = Array("\(folder)/ziggurat-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw StorageError("write into \(folder)", errno: errno) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// Bytes that the folder for temporary files has room for; nil if the system does not say.
  package static var freeBytes: Int? { ZigguratFiles.freeBytes(at: NSTemporaryDirectory()) }

  /// Appends; not for several threads at a time.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try writeAll(bytes, to: descriptor, path: NSTemporaryDirectory())
  }

  /// All bytes of a range; nil where they cannot be read.
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
