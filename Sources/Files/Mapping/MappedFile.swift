import Foundation
import Glibc
import Synchronization

/// A memory-mapped file (mmap(2)), mapped whole and read-only; unmapped after its last owner releases it. Small ones may be in memory instead.
///
/// Files that are truncated while mapped end the process with SIGBUS, unless `surviveCutShortFiles` was called.
/// Archives are replaced by rename and never rewritten in place.
package final class MappedFile: Sendable {
  // The mapping is never written and lives as long as its owner, so that it is safe to share.
  nonisolated(unsafe) package let bytes: UnsafeRawBufferPointer
  /// The time of the last change, device and inode, which distinguish a file from its successor.
  package let identity: FileIdentity
  /// A descriptor for reading that is open as long as the mapping, for senders of parts of the file; or -1.
  package let descriptor: Int32
  private let isCopy: Bool

  /// The number of mappings in the process.
  private static let count = Atomic<Int>(0)
  /// The maximum number of mappings of the process, of files and of memory alike.
  package static let places: Int = {
    let text = try? String(contentsOfFile: "/proc/sys/vm/max_map_count", encoding: .utf8)
    return text.flatMap { Int($0.prefix { $0.isNumber }) } ?? 65530
  }()
  /// Whether so many mappings exist that owners of thousands should release them sooner.
  package static var areMany: Bool { count.load(ordering: .relaxed) > places / 4 }
  /// Whether small files are read instead of mapped: allocating memory needs mappings, too.
  private static var areTooMany: Bool { count.load(ordering: .relaxed) > places / 2 }
  /// The maximum size in bytes of a file that may be in memory.
  private static let maxCopySize = 16 << 20

  /// Opens a regular file for reading.
  /// - Parameter enclosure: the folder of the file; a file that a link leads to outside is refused.
  private static func open(
    _ path: String, _ action: String, within enclosure: RootDirectory?
  ) throws(StorageError) -> Int32 {
    // Without O_NONBLOCK, opening a pipe in the library would block for ever.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    if let enclosure, !enclosure.holds(descriptor) {
      close(descriptor)
      throw StorageError(action, "a link leads out of the folder")
    }
    return descriptor
  }

  /// Returns the content of a file that is not empty. It is read and not mapped.
  /// - Parameter most: the maximum size in bytes.
  package static func contents(
    path: String, atMost most: Int, within enclosure: RootDirectory?
  ) throws(StorageError) -> [UInt8] {
    let action = "open \(path)"
    let descriptor = try open(path, action, within: enclosure)
    defer { close(descriptor) }
    let size = try status(descriptor, action).st_size
    guard size <= most else { throw StorageError(action, "the file has \(size) bytes, more than \(most)") }
    return try PositionalReader(descriptor: descriptor, size: size).read(0, size, to: action)
  }

  private static func status(_ descriptor: Int32, _ action: String) throws(StorageError) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StorageError(action, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw StorageError(action, "not a regular file") }
    guard status.st_size > 0 else { throw StorageError(action, "the file is empty") }
    return status
  }

  /// - Parameters:
  ///   - keepsDescriptor: false for files that are mapped by the thousand; if too many are, they are read instead.
  ///   - enclosure: the folder of the file; a file that a link leads to outside is refused.
  package init(
    path: String, keepsDescriptor: Bool = true, within enclosure: RootDirectory? = nil
  ) throws(StorageError) {
    let action = "open \(path)"
    let descriptor = try Self.open(path, action, within: enclosure)
    do throws(StorageError) {
      (bytes, identity, isCopy) = try Self.map(descriptor, action, mayCopy: !keepsDescriptor)
    } catch {
      close(descriptor)
      throw error
    }
    if !keepsDescriptor { close(descriptor) }
    self.descriptor = keepsDescriptor ? descriptor : -1
  }

  /// Creates an empty mapping for data without a file.
  package init() {
    bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    identity = FileIdentity(stat())
    descriptor = -1
    isCopy = false
  }

  /// Maps an open file, which its owner closes.
  ///
  /// - Parameter path: the file's name in errors.
  package init(descriptor: Int32, path: String) throws(StorageError) {
    (bytes, identity, isCopy) = try Self.map(descriptor, "open \(path)", mayCopy: false)
    self.descriptor = -1
  }

  private static func map(
    _ descriptor: Int32, _ action: String, mayCopy: Bool
  ) throws(StorageError) -> (UnsafeRawBufferPointer, FileIdentity, isCopy: Bool) {
    let status = try Self.status(descriptor, action)
    let size = status.st_size
    let mayCopy = mayCopy && size <= maxCopySize
    if mayCopy, areTooMany { return (try copy(descriptor, size, action), FileIdentity(status), true) }
    guard let base = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
      let code = errno
      guard mayCopy, code == ENOMEM else { throw StorageError(action, errno: code) }
      return (try copy(descriptor, size, action), FileIdentity(status), true)
    }
    count.wrappingAdd(1, ordering: .relaxed)
    return (UnsafeRawBufferPointer(start: base, count: size), FileIdentity(status), false)
  }

  private static func copy(
    _ descriptor: Int32, _ size: Int, _ action: String
  ) throws(StorageError) -> UnsafeRawBufferPointer {
    guard let memory = malloc(size) else { throw StorageError(action, errno: ENOMEM) }
    var filled = 0
    while filled < size {
      let count = pread(descriptor, memory + filled, size - filled, filled)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let code = errno
        free(memory)
        throw count < 0
          ? StorageError(action, errno: code) : StorageError(action, "it was cut short while it was read")
      }
      filled += count
    }
    return UnsafeRawBufferPointer(start: memory, count: size)
  }

  deinit {
    if let base = bytes.baseAddress.map(UnsafeMutableRawPointer.init(mutating:)) {
      if isCopy {
        free(base)
      } else {
        munmap(base, bytes.count)
        Self.count.wrappingSubtract(1, ordering: .relaxed)
      }
    }
    if descriptor >= 0 { close(descriptor) }
  }
}
