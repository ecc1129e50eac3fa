import Glibc
import TileStorage
import ZigguratFiles

/// The folder of a library that contains the files of all spaces.
struct SpaceFolder: Sendable {
  static let name = ".spaces"
  static let keyringName = "keyring"
  static let lockName = "locked"
  static let coverName = "cover"

  let path: String
  private let library: String

  init(library: String) {
    self.library = library
    path = "\(library)/\(Self.name)"
  }

  /// Throws if the folder is a link that leads out of the library.
  private func requireOwn() throws(StorageError) { try RootDirectory.requireOwn(Self.name, in: library) }

  func path(_ file: String) -> String { "\(path)/\(file)" }

  func make() throws(StorageError) {
    try FolderTree.make(parentFolder(path))
    try requireOwn()
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw StorageError("make the folder \(path)", errno: errno)
    }
  }

  /// Runs `body` while no other thread or process changes the folder. Readers need no lock, because a rename replaces
  /// each file.
  func locked<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    try requireOwn()
    let lock = try DirectoryLock(path)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  /// Publishes a complete file durably, after everything that was written before it.
  ///
  /// - Parameter showsTime: whether the file keeps its modification time. Backup programs use it to detect changes of
  ///   files whose names stay.
  func publish(_ file: AtomicFile, showsTime: Bool = false) throws(StorageError) {
    if !showsTime {
      let time = Self.anyTime()
      try file.setTime(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
    try file.publish()
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StorageError("open \(path)", errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StorageError("write \(file.destination)", errno: errno) }
  }

  func replace(_ name: String, with bytes: [UInt8], showsTime: Bool = false) throws(StorageError) {
    let file = try AtomicFile(destination: path(name))
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try file.write(UnsafeRawBufferPointer(bytes))
    }
    try publish(file, showsTime: showsTime)
  }

  /// Writes a file without content. A part of it, after a kill or a power failure, is as good.
  func scatter(_ name: String, byteCount: Int) throws(StorageError) {
    let path = path(name)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw StorageError("write \(path)", errno: errno) }
    defer { close(descriptor) }
    let bytes = Sodium.random(byteCount)
    guard write(descriptor, bytes, bytes.count) == bytes.count else {
      let code = errno
      unlink(path)
      throw StorageError("write \(path)", errno: code)
    }
    hideTime(name)
  }

  /// Returns a time on the first day of 2000, which reveals nothing. It is random, so that successive files of one size
  /// and place on the disk can be distinguished.
  private static func anyTime() -> timespec {
    timespec(tv_sec: 946_684_800 + Sodium.random(below: 86_400), tv_nsec: Sodium.random(below: 1_000_000_000))
  }

  /// Hides the time of the last change of an existing file.
  func hideTime(_ name: String) {
    let times = [Self.anyTime(), Self.anyTime()]
    utimensat(AT_FDCWD, path(name), times, AT_SYMLINK_NOFOLLOW)
  }

  /// Reads a file; nil if it does not exist.
  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try requireOwn()
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
