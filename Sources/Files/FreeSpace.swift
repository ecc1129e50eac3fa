import Glibc

/// Returns the bytes that a file system has free for users without privileges; nil if it cannot be asked.
/// - Parameter path: of any file or folder in it.
package func freeBytes(at path: String) -> Int? {
  var status = statvfs()
  guard statvfs(path, &status) == 0 else { return nil }
  return Int(status.f_bavail) * Int(status.f_frsize)
}
