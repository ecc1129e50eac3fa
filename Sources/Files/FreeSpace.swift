import Glibc

/// Returns the free bytes of a file system for users without privileges. Nil if the system returns an error, or a value
/// that is not a number of bytes, as some file systems do above their quota.
/// - Parameter path: the path of any file or folder in it.
package func freeBytes(at path: String) -> Int? {
  var status = statvfs()
  guard statvfs(path, &status) == 0 else { return nil }
  return byteCount(blocks: UInt64(status.f_bavail), of: UInt64(status.f_frsize))
}

/// Returns the size of so many blocks in bytes; nil if it does not fit an `Int`.
func byteCount(blocks: UInt64, of size: UInt64) -> Int? {
  let (bytes, isOver) = blocks.multipliedReportingOverflow(by: size)
  return isOver ? nil : Int(exactly: bytes)
}
