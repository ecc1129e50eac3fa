import Glibc

/// A file of the user's choice that the program replaces as a whole, such as a cache.
package enum ReplacedFile {
  /// Throws if another file has the name. Only an empty file, or one that begins like the new one, is replaced.
  /// - Parameters:
  ///   - beginning: the first bytes of every such file.
  ///   - noun: the kind of file in errors, with its article.
  package static func require(
    _ path: String, beginsWith beginning: String, _ noun: String
  ) throws(StorageError) {
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    let isRegular = status.st_mode & S_IFMT == S_IFREG
    if isRegular, status.st_size == 0 { return }
    let file = isRegular ? open(path, O_RDONLY | O_CLOEXEC) : -1
    guard !isRegular || file >= 0 else { throw StorageError("read \(path)", errno: errno) }
    defer { if file >= 0 { close(file) } }
    let expected = Array(beginning.utf8)
    var bytes = [UInt8](repeating: 0, count: expected.count)
    guard isRegular, pread(file, &bytes, bytes.count, 0) == bytes.count, bytes == expected else {
      throw StorageError(
        "replace \(path)", "it is not \(noun); name another file, or delete this one")
    }
  }
}
