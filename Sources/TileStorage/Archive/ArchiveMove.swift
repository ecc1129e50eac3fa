import Glibc
package import ZigguratFiles

/// A change of an archive's id. The metadata beside the archive moves with it.
///
/// One move needs no journal (an exchange of several has a `MoveJournal`). First, the mapping from the old id to the
/// new one is written. The metadata is beside both places before one `rename` moves the archive, and is removed from
/// the old one after it. Whenever the program ends, the image is whole and has its metadata, under one of the two ids.
/// A build that finds it under the old id moves it again. Metadata that remained at the old place is removed before
/// another image gets that id.
package struct ArchiveMove {
  private let library: String
  private let old: ImageID
  private let new: ImageID

  package init(_ old: ImageID, to new: ImageID, in library: String) {
    self.library = library
    self.old = old
    self.new = new
  }

  /// - Parameter pageName: for a page, the part of its new id behind its book's id; a book is renamed with its pages.
  /// - Returns: false if the archive cannot be moved, and is in its old place. Then a file of the user has the new
  ///   path, or the new place is on another mount.
  package func run(pageName: String?) throws(StorageError) -> Bool {
    let (from, to) = (old.archive(in: library), new.archive(in: library))
    let folders = (from: parentFolder(from), to: parentFolder(to))
    try RootDirectory(library).make(folders.to)
    // The locks are always taken in the same order, so that two moves cannot wait for each other for ever.
    var locks: [DirectoryLock] = []
    for folder in Set([folders.from, folders.to]).sorted() { locks.append(try DirectoryLock(folder)) }
    defer { withExtendedLifetime(locks) {} }
    var status = stat()
    guard lstat(from, &status) == 0, access(to, F_OK) != 0, errno == ENOENT else { return false }
    let device = status.st_dev
    guard stat(folders.to, &status) == 0, status.st_dev == device else { return false }
    let moved = IDRedirects(library: library)
    moved.removeLeftMetadata(of: new)
    guard let own = SidecarFile.places(ofSidecarsOf: from, beside: to) else { return false }
    // Metadata that is already there belongs to another picture, or an interrupted move put it there.
    for target in SidecarFile.all(ofArchive: to).map(\.path) where !own.isEmpty {
      guard let source = own.first(where: { $0.target == target })?.source else {
        if own.contains(where: { $0.source == target }) { continue }
        return false
      }
      guard Self.isSame(source, target) else { return false }
    }
    try moved.arrive(new)
    try moved.remember(old, as: new)
    if let end = pageName.map({ "/\($0)" }), old.text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8),
      let book = old.dropping(end.utf8.count), let newBook = new.dropping(end.utf8.count), book != newBook
    {
      try moved.remember(book, as: newBook)
    }
    for (source, target) in own where link(source, target) != 0 && errno != EEXIST {
      // On file systems without links, the metadata is moved before the archive.
      guard rename(source, target) == 0 else { throw StorageError("move \(source)", errno: errno) }
    }
    guard rename(from, to) == 0 else { throw StorageError("move \(from)", errno: errno) }
    for (source, _) in own { unlink(source) }
    try moved.forget(new)
    for folder in [folders.to, folders.from] { try FolderTree.synchronize(folder) }
    return true
  }

  /// Removes metadata that a killed program left at an archive's old place: files that are hard links of those at the
  /// new one.
  package static func removeLeftMetadata(of old: ImageID, movedTo new: ImageID, in library: String) {
    let (from, to) = (old.archive(in: library), new.archive(in: library))
    let targets = SidecarFile.paths(ofArchive: to)
    for source in SidecarFile.paths(ofArchive: from)
    where targets.contains(where: { $0 != source && isSame(source, $0) }) {
      unlink(source)
    }
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return lstat(one, &first) == 0 && lstat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }
}
