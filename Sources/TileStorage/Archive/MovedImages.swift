import Glibc
package import ZigguratFiles

/// The ids that a library's images had before their sources were renamed, each with the id that it became: in its
/// folder `.moved` small files for each, under the id's own path, so that each appears whole and is found without
/// reading the others. `.NAME.to` holds the id that NAME became, `.NAME.by` those that became NAME, each with a NUL
/// behind it; no id's folder is called so.
///
/// What it says counts only while no image has the old id, and only of the picture that was moved: whoever puts another
/// where none was calls `arrive` first.
package struct MovedImages: Sendable {
  package static let name = ".moved"

  private let library: String

  /// Each of four bytes with the dot in front of the name, as those of archives.
  private enum Kind: String {
    case to = ".to"
    case by = ".by"

    /// Bytes that such a file may have: an id has as many as a path.
    var longest: Int { self == .to ? Int(PATH_MAX) : 1 << 20 }
  }

  /// Renames that are followed, one after the other.
  private static let mostSteps = 64

  package init(library: String) { self.library = library }

  /// Writes it down, durably.
  package func remember(_ old: ImageID, as new: ImageID) throws(StorageError) {
    // First: what leads somewhere is found from there, whenever the program ends.
    let former = former(new)
    if !former.contains(old) { try write(former + [old], new) }
    try write(Array((new.text + "\n").utf8), .to, old)
  }

  /// A picture comes to have the id, which no image has: what led there meant another, and leads to what that is called
  /// now, or nowhere. The same of a book that has no page yet.
  package func arrive(_ id: ImageID) throws(StorageError) {
    removeLeftWords(of: id)
    try redirect(id)
    var folder = id.folder
    while let book = folder {
      if access(path(book, .by), F_OK) == 0, !hasArchives(below: book) { try redirect(book) }
      folder = book.folder
    }
  }

  /// An image has the id again.
  package func forget(_ id: ImageID) throws(StorageError) {
    guard let new = next(id) else { return }
    unlink(path(id, .to))
    try write(former(new).filter { $0 != id }, new)
  }

  /// The image is nobody's business any more: nothing tells what it was called.
  package func forget(leadingTo id: ImageID) throws(StorageError) {
    var wanted = [id]
    var met: Set<ImageID> = [id]
    // Also by way of others.
    while let id = wanted.popLast() {
      for old in former(id) where next(old) == id && met.insert(old).inserted { wanted.append(old) }
    }
    for id in met {
      try forget(id)
      unlink(path(id, .by))
      // The names of empty folders tell as much.
      var folder = parentFolder(path(id, .by))
      while folder != "\(library)/\(Self.name)", rmdir(folder) == 0 { folder = parentFolder(folder) }
    }
  }

  /// What the image is called now that had the id; nil where none had, or it is there no more.
  /// - Parameter isThere: whether an image has an id.
  package func id(_ old: ImageID, isThere: (ImageID) -> Bool) -> ImageID? {
    var id = old
    for _ in 0..<Self.mostSteps {
      guard let next = next(id) else { return nil }
      if isThere(next) { return next }
      id = next
    }
    return nil
  }

  /// Returns the name of a book whose pages were moved; `nil` if it was not renamed, or another book got the name since.
  /// - Parameter file: the description that is left in the book's folder.
  package func newName(ofBook book: ImageID, describedBy file: String) -> ImageID? {
    // A description that is newer than the move is another book's.
    guard let moved = FileIdentity(path: path(book, .to)), let written = FileIdentity(path: file),
      moved.modifiedNanoseconds >= written.modifiedNanoseconds
    else { return nil }
    return id(book) { hasArchives(below: $0) }
  }

  /// Removes what a move that was cut short left beside the id, which no image has.
  func removeLeftWords(of id: ImageID) {
    guard let new = self.id(id, isThere: { access($0.archive(in: library), F_OK) == 0 }) else { return }
    ArchiveMove.removeLeftWords(of: id, movedTo: new, in: library)
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

  /// - Parameter one: the path of an archive that does not count.
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

  /// The ids that became this one.
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
    try Enclosure(library).make(parentFolder(path))
    let file = try PartialFile(destination: path)
    try file.write(bytes)
    try file.publish()
    try FolderTree.synchronize(parentFolder(path))
  }

  private func read(_ id: ImageID, _ kind: Kind) -> [UInt8]? {
    let descriptor = open(path(id, kind), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    // What a link leads to is no image's id, and may be a secret.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size > 0, status.st_size <= kind.longest,
      let enclosure = try? Enclosure(library), enclosure.holds(descriptor)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return count == bytes.count ? bytes : nil
  }
}
