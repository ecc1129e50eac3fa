import Glibc

/// Whether a name in a folder is taken, by a file, a folder or a link to anything, or may be: only what is known to be
/// absent is not.
package func isNameTaken(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
}
