import Glibc
import TileStorage

/// The folder of a library in which the spaces' files are, all side by side.
struct SpaceFolder: Sendable {
  static let name = ".spaces"
  static let keyringName = "keyring"
  static let lockName = "locked"

  let path: String

  init(library: String) { path = "\(library)/\(Self.name)" }

  func path(_ file: String) -> String { "\(path)/\(file)" }

  func make() throws(StorageError) {
    try FolderTree.make(parentFolder(path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError("make the folder \(path)", errno: errno)
    }
  }

  /// Runs `body` while no other thread or process changes the folder. Readers need no lock: every file is
  /// replaced by rename.
  func locked<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("open \(path)", errno: errno) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw StorageError("lock \(path)", errno: errno) }
    }
    return try body()
  }

  /// Gives a complete file its name, so that power loss afterwards keeps it and what came before it.
  func publish(_ file: PartialFile) throws(StorageError) {
    try file.publish()
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("open \(path)", errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError("write \(file.destination)", errno: errno) }
  }

  func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
    let file = try PartialFile(destination: path(name))
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try file.write(UnsafeRawBufferPointer(bytes))
    }
    try publish(file)
  }

  /// Nil where there is no such file.
  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    do {
      let file = try MappedFile(path: path(name))
      return withExtendedLifetime(file) { Array(file.bytes) }
    } catch  where error.code == ENOENT || error.code == ENOTDIR { return nil }
  }

  func names() -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      if let name = entry.pointee.name { names.append(name) }
    }
    return names
  }
}
