public import Glibc

/// A whole file mapped read-only; unmapped when the last owner lets go.
///
/// Files that others cut short while mapped end the process with SIGBUS, unless `surviveCutShortFiles` was called:
/// archives are replaced by rename and never rewritten in place.
public final class MappedFile: Sendable {
  // The mapping is never written and lives as long as its owner: safe to share.
  nonisolated(unsafe) public let bytes: UnsafeRawBufferPointer
  /// Seconds and nanoseconds of the last change, device and inode: what tells one file from its successor.
  public let identity: FileIdentity
  /// Open for reading as long as the mapping, for whoever sends parts of the file without touching them; or -1.
  public let descriptor: Int32

  /// - Parameters:
  ///   - keepsDescriptor: false for files that are mapped by the thousand.
  ///   - enclosure: where the file lies; one that a link leads to elsewhere is refused.
  public init(
    path: String, keepsDescriptor: Bool = true, within enclosure: Enclosure? = nil
  ) throws(StorageError) {
    let action = "open \(path)"
    // Without O_NONBLOCK a pipe in the library would hold up the open for ever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw StorageError(action, errno: errno) }
    do throws(StorageError) {
      if let enclosure, !enclosure.holds(descriptor) {
        throw StorageError(action, "a link leads out of the folder")
      }
      (bytes, identity) = try Self.map(descriptor, action)
    } catch {
      close(descriptor)
      throw error
    }
    if !keepsDescriptor { close(descriptor) }
    self.descriptor = keepsDescriptor ? descriptor : -1
  }

  /// Of nothing, for what has no file.
  public init() {
    (bytes, identity, descriptor) = (UnsafeRawBufferPointer(start: nil, count: 0), FileIdentity(stat()), -1)
  }

  /// Of a file that is open and stays its owner's to close.
  ///
  /// - Parameter path: what an error calls it.
  init(descriptor: Int32, path: String) throws(StorageError) {
    (bytes, identity) = try Self.map(descriptor, "open \(path)")
    self.descriptor = -1
  }

  private static func map(
    _ descriptor: Int32, _ action: String
  ) throws(StorageError) -> (UnsafeRawBufferPointer, FileIdentity) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw StorageError(action, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw StorageError(action, "not a regular file") }
    guard status.st_size > 0 else { throw StorageError(action, "the file is empty") }
    let size = Int(status.st_size)
    guard let base = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
      throw StorageError(action, errno: errno)
    }
    return (UnsafeRawBufferPointer(start: base, count: size), FileIdentity(status))
  }

  deinit {
    if let base = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: base), bytes.count) }
    if descriptor >= 0 { close(descriptor) }
  }
}

/// What changes when a file is replaced or rewritten.
public struct FileIdentity: Hashable, Sendable {
  public let device: UInt64
  public let inode: UInt64
  public let size: Int
  public let modifiedNanoseconds: Int

  public init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int(status.st_size)
    modifiedNanoseconds = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
  }
}
