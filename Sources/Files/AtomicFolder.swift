import Foundation
import Glibc
import Synchronization
import ZigguratCFileSystems

/// A folder of files under construction beside its destination. Nothing has the destination's name before `publish`
/// renames the whole folder. An existing empty folder, which may be a mount point or a working directory, is filled
/// instead.
///
/// A lock distinguishes a folder in use from the leftover of a killed program. The next program with the same place
/// removes leftovers.
///
/// Files may be written by several threads at a time.
package final class AtomicFolder: Sendable {
  package let destination: String
  private let path: String
  private let replaces: Bool
  /// Whether the destination is an empty folder.
  private let fills: Bool
  /// The lock of the folder; nil if the file system has no locks.
  private let lock: DirectoryLock?

  private static let prefix = AtomicFile.prefix + "folder-"
  private static let oldSuffix = "-old"

  /// - Parameters:
  ///   - destination: the path of the folder; its parent folder exists.
  ///   - replacing: whether anything of that name is replaced; otherwise, except for an empty folder, it is refused
  ///     with `EEXIST`.
  package init(destination: String, replacing: Bool = false) throws(StorageError) {
    replaces = replacing
    var destination = destination
    while destination.count > 1, destination.hasSuffix("/") { destination.removeLast() }
    self.destination = destination
    Self.removeLeftovers(in: parentFolder(destination))
    Self.removeLeftovers(in: destination)
    fills = Self.isEmptyFolder(destination)
    // Reported before the work, not after it.
    guard fills || replacing || access(destination, F_OK) != 0 else {
      throw Self.somethingIsThere(destination)
    }
    // A replaced folder must be of the same kind.
    if replacing, let archive = try? FolderTree.archives(at: destination).first, archive != destination {
      throw StorageError("write \(destination)", "an archive is in it: \(archive)")
    }
    (path, lock) = try Self.make(in: fills ? destination : parentFolder(destination))
  }

  private static func make(in parent: String) throws(StorageError) -> (path: String, lock: DirectoryLock?) {
    while true {
      var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw StorageError("write into \(parent)", errno: errno) }
      let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      do throws(StorageError) {
        let lock = try DirectoryLock(path, waits: false)
        if lock.isInPlace { return (path, lock) }
      } catch {
        // Another program may have removed it as a leftover before it was locked.
        guard [EWOULDBLOCK, ENOENT].contains(error.code) else { return (path, nil) }
      }
    }
  }

  /// The folders in which this process has removed leftovers.
  private static let cleared = Mutex<Set<String>>([])

  /// Removes leftovers of killed programs in a folder, once for each folder.
  private static func removeLeftovers(in parent: String) {
    guard cleared.withLock({ $0.insert(parent).inserted }) else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    // A folder that was to be replaced is removed only after its successor is in place.
    for name in names where name.hasPrefix(prefix) && !name.hasSuffix(oldSuffix) {
      let path = "\(parent)/\(name)"
      guard let lock = try? DirectoryLock(path, waits: false), lock.isInPlace else { continue }
      withExtendedLifetime(lock) { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  private static func somethingIsThere(_ path: String) -> StorageError {
    StorageError("write \(path)", "something of that name is there", code: EEXIST)
  }

  /// Writes one file, and creates the folders of its path.
  ///
  /// - Parameter name: the relative path, with `/` between its parts; written once.
  package func write(_ name: String, _ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    let file = "\(path)/\(name)"
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = open(file, flags, 0o666)
    if descriptor < 0, errno == ENOENT {
      try FolderTree.make(parentFolder(file))
      descriptor = open(file, flags, 0o666)
    }
    guard descriptor >= 0 else { throw StorageError("write \(destination)/\(name)", errno: errno) }
    defer { close(descriptor) }
    try writeAll(bytes, to: descriptor, path: "\(destination)/\(name)")
  }

  package func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try write(name, UnsafeRawBufferPointer(bytes))
    }
  }

  private static func isEmptyFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty == true
  }

  /// Gives the finished folder its name.
  package func publish() throws(StorageError) {
    let action = "write \(destination)"
    guard chmod(path, 0o777 & ~Umask.value) == 0 else { throw StorageError(action, errno: errno) }
    // One call for up to a hundred thousand files. After it, no name on the disk is without its bytes.
    sync()
    if fills { return try fill() }
    if rename(path, destination) == 0 { return }
    guard [ENOTEMPTY, EEXIST, ENOTDIR].contains(errno) else { throw StorageError(action, errno: errno) }
    guard replaces else { throw Self.somethingIsThere(destination) }
    if ziggurat_exchange(path, destination) == 0 {
      try? FileManager.default.removeItem(atPath: path)
      return
    }
    // The old folder is moved aside first, because rename cannot replace a folder that is not empty.
    let old = path + Self.oldSuffix
    guard rename(destination, old) == 0 else { throw StorageError(action, errno: errno) }
    guard rename(path, destination) == 0 else {
      let code = errno
      rename(old, destination)
      throw StorageError(action, errno: code)
    }
    try? FileManager.default.removeItem(atPath: old)
  }

  /// Moves the finished files into the destination, descriptors last.
  private func fill() throws(StorageError) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    func isFolder(_ name: String) -> Bool {
      var status = stat()
      return stat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
    for name in names.filter(isFolder) + names.filter({ !isFolder($0) }) {
      let place = "\(destination)/\(name)"
      guard access(place, F_OK) != 0 else {
        throw Self.somethingIsThere(place)
      }
      guard rename("\(path)/\(name)", place) == 0 else { throw StorageError("write \(place)", errno: errno) }
    }
    rmdir(path)
  }

  /// Removes the folder; must not be called after `publish`.
  package func abandon() { try? FileManager.default.removeItem(atPath: path) }
}
