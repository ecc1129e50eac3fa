import Glibc
package import ZigguratFiles

/// The former ids of a library's images whose sources were renamed, each with the id that it became.
///
/// The folder `.moved` contains small files for each, under the id's own path. Each file appears whole and is found
/// without reading the others. `.NAME.to` contains the id that NAME became. `.NAME.by` contains the ids that became
/// NAME, each with a NUL behind it. No id's folder has such a name.
///
/// An entry counts only while no image has the old id, and only for the picture that was moved. Before a build puts
/// another picture under a free id, it calls `arrive`.
package struct IDRedirects: Sendable {
  package static let name = ".moved"

  private let library: String

  /// Each extension has four bytes together with the dot before the name, like those of archives.
  private enum Kind: String {
    case to = ".to"
    case by = ".by"

    /// The maximum size of such a file in bytes: an id has as many as a path.
    var longest: Int { self == .to ? Int(PATH_MAX) : 1 << 20 }
  }

  /// The maximum number of successive renames that are followed.
  private static let maxSteps = 64

  package init(library: String) { self.library = library }

  /// Records the rename durably.
  package func remember(_ old: ImageID, as new: ImageID) throws(StorageError) {
    // Written first, so that every forward link can be found from its target whenever the program ends.
    let former = former(new)
    if !former.contains(old) { try write(former + [old], new) }
    try write(Array((new.text + "\n").utf8), .to, old)
  }

  /// Redirects the former ids of an id that another picture is about to get, and that no image has now. They meant
  /// another picture, and now lead to its present id, or nowhere. The same applies to a book that has no page yet.
  package func arrive(_ id: ImageID) throws(StorageError) {
    removeLeftMetadata(of: id)
    try redirect(id)
    var folder = id.folder
    while let book = folder {
      if access(path(book, .by), F_OK) == 0, !hasArchives(below: book) { try redirect(book) }
      folder = book.folder
    }
  }

  /// Removes the rename of an id that an image has again.
  package func forget(_ id: ImageID) throws(StorageError) {
    guard let new = next(id) else { return }
    unlink(path(id, .to))
    try write(former(new).filter { $0 != id }, new)
  }

  /// Removes all former ids of an image, so that no name of it remains.
  package func forget(leadingTo id: ImageID) throws(StorageError) {
    var wanted = [id]
    var met: Set<ImageID> = [id]
    // Includes former ids of former ids.
    while let id = wanted.popLast() {
      for old in former(id) where next(old) == id && met.insert(old).inserted { wanted.append(old) }
    }
    for id in met {
      try forget(id)
      unlink(path(id, .by))
      // The names of empty folders reveal as much.
      var folder = parentFolder(path(id, .by))
      while folder != "\(library)/\(Self.name)", rmdir(folder) == 0 { folder = parentFolder(folder) }
    }
  }

  /// Returns the present id of the image that had the id; nil if no image had it, or the image no longer exists.
  /// - Parameter isThere: whether an image has an id.
  package func id(_ old: ImageID, isThere: (ImageID) -> Bool) -> ImageID? {
    var id = old
    for _ in 0..<Self.maxSteps {
      guard let next = next(id) else { return nil }
      if isThere(next) { return next }
      id = next
    }
    return nil
  }

  /// Returns the name of a book whose pages were moved; nil if it was not renamed, or another book got the name since.
  /// - Parameter file: the path of the description that is left in the book's folder.
  package func newName(ofBook book: ImageID, describedBy file: String) -> ImageID? {
    // A description that is newer than the move is another book's.
    guard let moved = FileIdentity(path: path(book, .to)), let written = FileIdentity(path: file),
      moved.modifiedNanoseconds >= written.modifiedNanoseconds
    else { return nil }
    return id(book) { hasArchives(below: $0) }
  }

  /// Removes the leftovers of an interrupted move beside the id, which no image has.
  func removeLeftMetadata(of id: ImageID) {
    guard let new = self.id(id, isThere: { access($0.archive(in: library), F_OK) == 0 }) else { return }
    ArchiveMove.removeLeftMetadata(of: id, movedTo: new, in: library)
  }

  private func redirect(_ id: ImageID) throws(StorageError) {
    let former = former(id)
    guard !former.isEmpty else { return }
    let new = next(id)
    for old in former where next(old) == id {
      if let new, new != old { try remember(old, as: new) } else { unlink(path(old, .to)) }
    }
    unlink(path(id, .by))
  }

  /// - Parameter one: the path of an archive to ignore.
  package func hasArchives(below folder: ImageID, besides one: String? = nil) -> Bool {
    ((try? FolderTree.archives(at: "\(library)/\(folder)")) ?? []).contains { $0 != one }
  }

  private func path(_ id: ImageID, _ kind: Kind) -> String {
    let folder = id.folder.map { "\($0)/" } ?? ""
    return "\(library)/\(Self.name)/\(folder).\(id.name)\(kind.rawValue)"
  }

  private func next(_ id: ImageID) -> ImageID? {
    guard let bytes = read(id, .to), bytes.last == UInt8(ascii: "\n") else { return nil }
    return Self.id(bytes.dropLast())
  }

  /// Returns the ids that became this one.
  private func former(_ id: ImageID) -> [ImageID] {
    (read(id, .by) ?? []).split(separator: 0).compactMap(Self.id)
  }

  private static func id(_ bytes: ArraySlice<UInt8>) -> ImageID? {
    guard let id = String(validating: bytes, as: UTF8.self).flatMap(ImageID.init), !id.isHidden else {
      return nil
    }
    return id
  }

  private func write(_ former: [ImageID], _ id: ImageID) throws(StorageError) {
    if former.isEmpty {
      unlink(path(id, .by))
    } else {
      try write(former.flatMap { Array($0.text.utf8) + [0] }, .by, id)
    }
  }

  private func write(_ bytes: [UInt8], _ kind: Kind, _ id: ImageID) throws(StorageError) {
    let path = path(id, kind)
    try RootDirectory(library).make(parentFolder(path))
    let file = try AtomicFile(destination: path)
    try file.write(bytes)
    try file.publish()
    try FolderTree.synchronize(parentFolder(path))
  }

  private func read(_ id: ImageID, _ kind: Kind) -> [UInt8]? {
    let descriptor = open(path(id, kind), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    // The target of a link is not an image's id, and may be a secret.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0, status.st_size <= kind.longest,
      let enclosure = try? RootDirectory(library), enclosure.holds(descriptor)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count == bytes.count ? bytes : nil
  }
}
