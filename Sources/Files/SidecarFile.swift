import Glibc

/// The XMP file beside an archive: `photo.xmp`, or `photo.szi.xmp` in darktable and digiKam.
///
/// `Metadata/Sidecar` parses its content. A private space has the same bytes in `SealedSidecar`. It is in another
/// place, under a name that reveals nothing, and is valid for one generation alone.
package struct SidecarFile: Hashable, Sendable {
  package let path: String
  package let identity: FileIdentity

  package static let ending = ".xmp"

  /// The maximum size in bytes of a sidecar whose metadata is read.
  package static let maxLength = InputLimit.sidecar.bytes

  /// Returns the possible paths of an archive's sidecar, in order of precedence.
  ///
  /// The second is missing if it is the first of another image: `photo.szi.xmp` belongs to an image called `photo.szi`.
  package static func paths(ofArchive path: String) -> [String] {
    let names = names(ofArchive: path)
    return isOfAnother(path) ? [names[0]] : names
  }

  private static func names(ofArchive path: String) -> [String] {
    [path.dropLast(4) + ending, path + ending]
  }

  /// Whether an image has the name of the archive's file, so that the archive's second sidecar name is that image's
  /// first.
  private static func isOfAnother(_ path: String) -> Bool {
    [".szi", ".dzi", ".zip"].contains { isNameTaken(path + $0) }
  }

  /// Returns the path of a new sidecar of an archive: one without a folder of that name. `photo.xmp` may be a folder
  /// with other images.
  package static func place(ofArchive path: String) throws(StorageError) -> String {
    guard let place = paths(ofArchive: path).first(where: isFree) else {
      throw StorageError(
        "write the metadata of \(path)", "folders have the names of its sidecar", code: EEXIST)
    }
    return place
  }

  /// Returns the paths of an archive's sidecars with their paths beside another archive; nil if one of them has no
  /// place there.
  package static func places(
    ofSidecarsOf archive: String, beside other: String
  ) -> [(source: String, target: String)]? {
    var free = paths(ofArchive: other).filter(isFree)
    var places: [(source: String, target: String)] = []
    for source in all(ofArchive: archive).map(\.path) {
      let isSecond = source == archive + ending
      guard let at = free.firstIndex(where: { ($0 == other + ending) == isSecond }) ?? free.indices.first
      else { return nil }
      places.append((source, free.remove(at: at)))
    }
    return places
  }

  /// Whether the path is free or has a regular file.
  private static func isFree(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  /// Finds an existing file.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    self.path = path
    identity = FileIdentity(status)
  }

  /// Finds the sidecar with the highest precedence.
  /// - Parameter isListed: whether a file of that path may exist, according to a listing of its folder.
  package init?(ofArchive path: String, isListed: (String) -> Bool = { _ in true }) {
    for (at, name) in Self.names(ofArchive: path).enumerated() where isListed(name) {
      guard let file = SidecarFile(path: name), at == 0 || !Self.isOfAnother(path) else { continue }
      self = file
      return
    }
    return nil
  }

  /// Returns the existing sidecars, in order of precedence.
  package static func all(ofArchive path: String) -> [SidecarFile] {
    paths(ofArchive: path).compactMap { SidecarFile(path: $0) }
  }

  /// Whether the file was replaced, removed or rewritten.
  package var hasChanged: Bool {
    var status = stat()
    return stat(path, &status) != 0 || FileIdentity(status) != identity
  }

  /// Returns the content for parsing; nil if it cannot be read, is too long, or a link leads out of the enclosure.
  package func bytes(within enclosure: RootDirectory?) -> [UInt8]? {
    guard let bytes = try? contents(atMost: Self.maxLength + 1, within: enclosure),
      bytes.count <= Self.maxLength
    else { return nil }
    return bytes
  }

  /// Returns the complete content in any format, for moving it. It is read, not mapped: other programs write to it.
  package func contents(
    atMost most: Int = .max, within enclosure: RootDirectory?
  ) throws(StorageError) -> [UInt8] {
    let action = "open \(path)"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    defer { close(descriptor) }
    guard enclosure?.holds(descriptor) ?? true else {
      throw StorageError(action, "a link leads out of the folder")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(most, 1 << 16))
    while bytes.count < most {
      let count = read(descriptor, &buffer, min(buffer.count, most - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StorageError(action, errno: errno) }
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  /// Writes a whole file, which is durable when its folder is.
  package static func publish(_ bytes: [UInt8], to path: String) throws(StorageError) {
    let file = try AtomicFile(destination: path)
    try file.write(bytes)
    try file.publish()
  }

  /// Replaces the file, durably but for its folder. The file keeps its permissions, and its group and owner if this
  /// process may give them. If the path is a link, its target is replaced.
  /// - Throws: also if a link leads out of the enclosure.
  package func replace(by bytes: [UInt8], within enclosure: RootDirectory) throws(StorageError) {
    var status = stat()
    guard let resolved = realpath(path, nil) else { throw StorageError("write \(path)", errno: errno) }
    defer { free(resolved) }
    let target = String(cString: resolved)
    guard enclosure.holds(path: target) else {
      throw StorageError("write \(path)", "a link leads out of the folder")
    }
    guard stat(target, &status) == 0 else { throw StorageError("write \(path)", errno: errno) }
    let file = try AtomicFile(destination: target)
    try file.write(bytes)
    if fchown(file.descriptor, status.st_uid, status.st_gid) != 0 {
      fchown(file.descriptor, uid_t.max, status.st_gid)
    }
    try file.publish(mode: status.st_mode & 0o777)
    if target != path { try FolderTree.synchronize(parentFolder(target)) }
  }

  /// Removes the file; does nothing if it does not exist.
  package func remove() throws(StorageError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw StorageError("remove \(path)", errno: errno) }
  }
}
