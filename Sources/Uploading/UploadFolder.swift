import Foundation
import Glibc
import Synchronization
import ZigguratFiles

/// The uploads' files: `.ziggurat-uploads/ID/` inside the library holds a record and the bytes that have come,
/// under the file's own name.
package final class UploadFolder: Sendable {
  static let name = ".ziggurat-uploads"

  package static func path(library: String) -> String { "\(library)/\(name)" }

  private static let recordName = ".record"

  let path: String
  /// Two servers would take each other's uploads for leftovers.
  private let lock: Mutex<LockedFolder>

  init(library: String) throws(StorageError) {
    let path = Self.path(library: library)
    self.path = path
    lock = Mutex(try Self.locked(path))
  }

  private static func locked(_ path: String) throws(StorageError) -> LockedFolder {
    try Enclosure.requireOwn(name, in: parentFolder(path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError("make the folder \(path)", errno: errno)
    }
    do throws(StorageError) { return try LockedFolder(path, waits: false) } catch {
      guard error.code == EWOULDBLOCK else { throw error }
      throw StorageError("take uploads for \(parentFolder(path))", "another process takes them")
    }
  }

  /// Makes and locks the folder again if it was removed or replaced, as when a library is restored from a backup while the
  /// server runs.
  private func ensure() throws(StorageError) {
    try lock.withLock { (lock) throws(StorageError) in
      if !lock.isInPlace { lock = try Self.locked(path) }
    }
  }

  func file(of upload: Upload) -> String { "\(path)/\(upload.id)/\(upload.name)" }

  /// Bytes that uploads may still take.
  func free(reserve: Int) -> Int {
    freeBytes(at: path).map { $0 - reserve } ?? .max
  }

  /// There whole or not at all, also after a loss of power.
  func create(_ upload: Upload) throws(StorageError) {
    try ensure()
    let partial = "\(path)/.\(upload.id)"
    guard mkdir(partial, 0o700) == 0 else { throw StorageError("make an upload", errno: errno) }
    do throws(StorageError) {
      try write(upload.record(), to: partial)
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

  /// Keeps, also over a loss of power, which picture it becomes and how often that was tried.
  func record(_ upload: Upload, image: ImageID?, attempts: Int) throws(StorageError) {
    let folder = "\(path)/\(upload.id)"
    try write(upload.record(image: image, attempts: attempts), to: folder)
    try FolderTree.synchronize(folder)
  }

  private func write(_ record: Upload.Record, to folder: String) throws(StorageError) {
    // Strings and numbers always encode.
    try Self.replace("\(folder)/\(Self.recordName)", Array(try! JSONEncoder().encode(record)))
  }

  /// The file holds these bytes or what it held, whatever happens.
  static func replace(_ path: String, _ bytes: [UInt8]) throws(StorageError) {
    let file = try PartialFile(destination: path)
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

  /// Returns the whole and partial uploads that an earlier server left. Uploads that it was creating or removing when it
  /// ended are removed.
  func load() -> [Upload] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      if let name = entry.pointee.name, name != ".", name != "..", entry.pointee.isFolder {
        names.append(name)
      }
    }
    return names.sorted().compactMap { name in
      if let upload = load(name) { return upload }
      remove("\(path)/\(name)")
      return nil
    }
  }

  private func load(_ id: String) -> Upload? {
    let folder = "\(path)/\(id)"
    var status = stat()
    guard Uploads.isID(id), let data = FileManager.default.contents(atPath: "\(folder)/\(Self.recordName)"),
      let record = try? JSONDecoder().decode(Upload.Record.self, from: data),
      UploadName.file(record.name) == record.name, UploadName.folder(record.folder) == record.folder,
      lstat("\(folder)/\(record.name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      record.copy != nil || Int(status.st_size) <= record.length
    else { return nil }
    let descriptor = open("\(folder)/\(record.name)", O_RDONLY | O_CLOEXEC)
    // What is acknowledged from now on has to last.
    fdatasync(descriptor)
    close(descriptor)
    var state = Upload.State()
    state.offset = Int(status.st_size)
    state.received = Int(status.st_size)
    // The file of a copy is made anew.
    let isWhole = record.copy != nil || state.offset == record.length
    state.stage = isWhole ? .waiting : .receiving
    state.image = record.image
    state.lastChange = status.st_mtim.tv_sec
    state.attempts = record.attempts ?? 0
    return Upload(
      id: id, name: record.name, folder: record.folder, length: record.length, state: state,
      copy: record.copy, metadata: record.metadata)
  }
}
