import Glibc

/// Functions about folders of a library.
package enum FolderTree {
  /// Creates the folder and missing ones above it.
  package static func make(_ path: String) throws(StorageError) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw StorageError("make the folder \(path)", "there is a file of that name")
      }
      return
    }
    let parent = parentFolder(path)
    if parent != path, parent != "." { try make(parent) }
    // Another builder may have created it meanwhile.
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw StorageError("make the folder \(path)", errno: errno, in: parent)
    }
    guard stat(path, &status) == 0 || errno != ENOENT else {
      throw StorageError("make the folder \(path)", "a link of that name leads nowhere")
    }
  }

  /// Writes a folder's names to the disk.
  package static func synchronize(_ path: String) throws(StorageError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("open \(path)", errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError("write \(path)", errno: errno) }
  }

  /// Returns the archives in a folder and below it, sorted; `path` alone if it is a file.
  /// - Parameters:
  ///   - endings: the file name extensions, of four bytes each.
  ///   - skip: called with each folder below `path` that cannot be read, and with each folder or archive whose name is
  ///     not UTF-8. Nil throws the error of the former, and ignores the latter.
  package static func archives(
    at path: String, endings: [String] = [".szi"],
    skip: ((_ folder: String, _ error: StorageError) -> Void)? = nil
  ) throws(StorageError) -> [String] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw StorageError("open \(path)", errno: errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [path] }
    var found: [String] = []
    var folders = [path]
    while let folder = folders.popLast() {
      guard let directory = opendir(folder) else {
        let error = StorageError("open \(folder)", errno: errno)
        guard let skip, folder != path else { throw error }
        skip(folder, error)
        continue
      }
      defer { closedir(directory) }
      while let entry = readdir(directory) {
        guard let name = entry.pointee.name else {
          let shown = entry.pointee.shownName
          if let skip, entry.pointee.isFolder || endings.contains(where: shown.hasSuffix) {
            skip("\(folder)/\(shown)", StorageError("open \(shown)", "its name is not UTF-8; rename it"))
          }
          continue
        }
        guard name.utf8.first != UInt8(ascii: ".") else { continue }
        // A folder may have an archive's extension, too.
        if entry.pointee.isFolder {
          folders.append("\(folder)/\(name)")
        } else if endings.contains(where: name.hasSuffix), name.utf8.count > 4 {
          found.append("\(folder)/\(name)")
        }
      }
    }
    return found.sorted()
  }

  /// Removes leftovers of killed builds in `folder` and below it.
  package static func removeLeftovers(below folder: String) {
    guard let directory = opendir(folder) else { return }
    defer { closedir(directory) }
    var hasLeftovers = false
    while let entry = readdir(directory) {
      guard let name = entry.pointee.name else { continue }
      if name.hasPrefix(AtomicFile.prefix), name.hasSuffix(AtomicFile.suffix) { hasLeftovers = true }
      if entry.pointee.isFolder, !name.hasPrefix(".") {
        removeLeftovers(below: "\(folder)/\(name)")
      }
    }
    if hasLeftovers { _ = AtomicFile.removeLeftovers(in: folder) }
  }
}
