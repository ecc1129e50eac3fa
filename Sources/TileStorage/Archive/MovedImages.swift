package import Files
import Glibc

/// The ids that a library's images had before their sources were renamed, each with the id that it became: in its
/// folder `.moved` a small file for each, under the id's own path, so that each appears whole and is found without
/// reading the others.
///
/// What it says counts only while no image has the old id.
package struct MovedImages: Sendable {
  package static let name = ".moved"

  private let library: String
  /// Of four bytes, as those of archives.
  private static let ending = ".new"
  /// Bytes that an id may have: as many as a path.
  private static let longest = Int(PATH_MAX)
  /// Renames that are followed, one after the other.
  private static let mostSteps = 64

  package init(library: String) { self.library = library }

  /// Writes it down, durably.
  package func remember(_ old: ImageID, as new: ImageID) throws(StorageError) {
    let path = path(old)
    try FolderTree.make(parentFolder(path))
    let file = try PartialFile(destination: path)
    try file.write(Array((new.text + "\n").utf8))
    try file.publish()
    try FolderTree.synchronize(parentFolder(path))
  }

  /// An image has the id again.
  package func forget(_ id: ImageID) { unlink(path(id)) }

  /// The image is nobody's business any more: nothing tells what it was called.
  package func forget(leadingTo id: ImageID) {
    let root = "\(library)/\(Self.name)"
    var wanted: Set<ImageID> = [id]
    let all = (try? FolderTree.archives(at: root, endings: [Self.ending])) ?? []
    var found: [ImageID: ImageID] = [:]
    for path in all {
      if let old = ImageID(archive: path, below: root) { found[old] = next(old) }
    }
    // Also by way of others.
    while true {
      let more = found.filter { wanted.contains($0.value) && !wanted.contains($0.key) }.map(\.key)
      if more.isEmpty { break }
      wanted.formUnion(more)
    }
    for id in wanted { forget(id) }
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

  private func path(_ id: ImageID) -> String { "\(library)/\(Self.name)/\(id)\(Self.ending)" }

  private func next(_ id: ImageID) -> ImageID? {
    let descriptor = open(path(id), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    // What a link leads to is no image's id, and may be a secret.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.longest,
      let enclosure = try? Enclosure(library), enclosure.holds(descriptor)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.longest)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, bytes[count - 1] == UInt8(ascii: "\n"),
      let new = String(validating: bytes[..<(count - 1)], as: UTF8.self).flatMap(ImageID.init), !new.isHidden
    else { return nil }
    return new
  }
}
