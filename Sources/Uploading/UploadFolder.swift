import Foundation
import Glibc
import Synchronization
import ZigguratFiles

/// The files of uploads. `.ziggurat-uploads/ID/` in the library contains a record, and the received bytes under the
/// file's own name.
package final class UploadFolder: Sendable {
  static let name = ".ziggurat-uploads"

  package static func path(library: String) -> String { "\(library)/\(name)" }

  private static let recordName = ".record"
  /// The maximum size of a record in bytes. The headers of a request are shorter.
  private static let maxRecordSize = 1 << 20

  let path: String
  /// A lock against other servers. Two servers would treat each other's uploads as leftovers.
  private let lock: Mutex<DirectoryLock>

  init(library: String) throws(StorageError) {
    let path = Self.path(library: library)
    self.path = path
    lock = Mutex(try Self.locked(path))
  }

  private static func locked(_ path: String) throws(StorageError) -> DirectoryLock {
    try RootDirectory.requireOwn(name, in: parentFolder(path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError("make the folder \(path)", errno: errno)
    }
    do throws(StorageError) { return try DirectoryLock(path, waits: false) } catch {
      guard error.code == EWOULDBLOCK else { throw error }
      throw StorageError("take uploads for \(parentFolder(path))", "another process takes them")
    }
  }

  /// Recreates and locks the folder if it was removed or replaced, for example, when a library is restored from a
  /// backup while the server runs.
  private func ensure() throws(StorageError) {
    try lock.withLock { (lock) throws(StorageError) in
      if !lock.isInPlace { lock = try Self.locked(path) }
    }
  }

  func file(of upload: Upload) -> String { "\(path)/\(upload.id)/\(upload.name)" }

  /// Creates the files of an upload, completely or not at all, even after a power failure.
  func create(_ upload: Upload) throws(StorageError) {
    try ensure()
    let partial = "\(path)/.\(upload.id)"
    guard mkdir(partial, 0o700) == 0 else { throw StorageError("make an upload", errno: errno) }
    do throws(StorageError) {
      try write(Upload.Record(upload, upload.state), to: partial)
      let descriptor = open("\(partial)/\(upload.name)", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw StorageError("make an upload", errno: errno) }
      close(descriptor)
      try FolderTree.synchronize(partial)
      guard rename(partial, "\(path)/\(upload.id)") == 0 else {
        throw StorageError("make an upload", errno: errno)
      }
      try FolderTree.synchronize(path)
    } catch {
      remove(partial)
      throw error
    }
  }

  /// Writes the record of an upload in that state, durably.
  func record(_ upload: Upload, _ state: Upload.State) throws(StorageError) {
    let folder = "\(path)/\(upload.id)"
    try write(Upload.Record(upload, state), to: folder)
    try FolderTree.synchronize(folder)
  }

  private func write(_ record: Upload.Record, to folder: String) throws(StorageError) {
    // Strings and numbers always encode.
    try Self.replace("\(folder)/\(Self.recordName)", Array(try! JSONEncoder().encode(record)))
  }

  /// Replaces a file atomically: it contains the new bytes or the old ones, whatever happens.
  static func replace(_ path: String, _ bytes: [UInt8]) throws(StorageError) {
    let file = try AtomicFile(destination: path)
    try file.write(bytes)
    try file.publish(mode: 0o600)
  }

  func remove(_ upload: Upload) { remove("\(path)/\(upload.id)") }

  private func remove(_ folder: String) {
    guard let directory = opendir(folder) else { return }
    while let entry = readdir(directory) {
      if let name = entry.pointee.name, name != ".", name != ".." { unlink("\(folder)/\(name)") }
    }
    closedir(directory)
    rmdir(folder)
  }

  /// Returns the complete and partial uploads that an earlier server left. Removes those that it was creating or
  /// removing when it ended.
  /// - Returns: also the folders that are left as they are, with the reason. Their records or bytes cannot be read now,
  ///   or another version of the program wrote them.
  func load() -> (uploads: [Upload], unread: [StorageError]) {
    guard let directory = opendir(path) else { return ([], []) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      if let name = entry.pointee.name, name != ".", name != "..", entry.pointee.isFolder {
        names.append(name)
      }
    }
    var (uploads, unread): ([Upload], [StorageError]) = ([], [])
    for name in names.sorted() {
      let folder = "\(path)/\(name)"
      guard Uploads.isID(name) else {
        if name.hasPrefix("."), Uploads.isID(String(name.dropFirst())) { remove(folder) }
        continue
      }
      do throws(StorageError) {
        if let upload = try load(name) { uploads.append(upload) } else { remove(folder) }
      } catch { unread.append(error) }
    }
    return (uploads, unread)
  }

  /// Returns nil if the record or the bytes are missing. `create` writes both at once, so `remove` was interrupted.
  private func load(_ id: String) throws(StorageError) -> Upload? {
    let folder = "\(path)/\(id)"
    let action = "take up the upload in \(folder)"
    let data: [UInt8]
    do throws(StorageError) {
      data = try MappedFile.contents(
        path: "\(folder)/\(Self.recordName)", atMost: Self.maxRecordSize, within: nil)
    } catch {
      if error.kind == .notFound { return nil }
      throw error.during(action)
    }
    guard let record = try? JSONDecoder().decode(Upload.Record.self, from: Data(data)),
      UploadName.file(record.name) == record.name, UploadName.folder(record.folder) == record.folder
    else { throw StorageError(action, "its record is of another version, or damaged") }
    var status = stat()
    guard lstat("\(folder)/\(record.name)", &status) == 0 else {
      if errno == ENOENT { return nil }
      throw StorageError(action, errno: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG, record.copy != nil || Int(status.st_size) <= record.length
    else {
      throw StorageError(action, "its bytes are not those of its record")
    }
    let descriptor = open("\(folder)/\(record.name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    defer { close(descriptor) }
    // Bytes that are acknowledged from now on must be durable.
    guard fdatasync(descriptor) == 0 else { throw StorageError(action, errno: errno) }
    var state = Upload.State()
    state.offset = Int(status.st_size)
    state.received = Int(status.st_size)
    // The file of a crop is created again.
    let isWhole = record.copy != nil || state.offset == record.length
    state.stage = isWhole ? .waiting : .receiving
    state.image = record.image
    state.lastChange = status.st_mtim.tv_sec
    state.attempts = record.attempts ?? 0
    state.isCancelled = record.cancelled ?? false
    return Upload(
      id: id, name: record.name, folder: record.folder, length: record.length, state: state,
      copy: record.copy, metadata: record.metadata)
  }
}
