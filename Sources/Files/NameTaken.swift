import Glibc

/// Returns whether a name in a folder is taken, by a file, a folder or any link. A name counts as taken unless it is
/// known to be free.
package func isNameTaken(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
}
