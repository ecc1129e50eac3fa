import Glibc

/// Returns the bytes that a file system has free for users without privileges; `nil` if it cannot be asked, or if its
/// answer is no number of bytes, as of some file systems above their quota.
/// - Parameter path: of any file or folder in it.
package func freeBytes(at path: String) -> Int? {
  var status = statvfs()
  guard statvfs(path, &status) == 0 else { return nil }
  return byteCount(blocks: UInt64(status.f_bavail), of: UInt64(status.f_frsize))
}

/// Returns the bytes of so many blocks; `nil` if an `Int` cannot hold them.
func byteCount(blocks: UInt64, of size: UInt64) -> Int? {
  let (bytes, isOver) = blocks.multipliedReportingOverflow(by: size)
  return isOver ? nil : Int(exactly: bytes)
}
