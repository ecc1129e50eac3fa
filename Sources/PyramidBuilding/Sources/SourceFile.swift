import CXXHash
import Files
import Glibc
import TileStorage

/// A source as a file: whether it can be read, and the digest that tells its content from another's.
///
/// Read, not mapped: a file that is cut short under a mapping ends the process.
struct SourceFile: Sendable {
  let path: String
  /// The last part of the path, unless it was given another.
  let name: String
  let identity: FileIdentity

  /// Refuses what is not a regular, readable, non-empty file: a device or a pipe would never end.
  init(path: String, name: String? = nil) throws(BuildError) {
    self.path = path
    self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    identity = try Self.identity(descriptor, path)
  }

  /// XXH3-128 of the content, hexadecimal.
  ///
  /// - Parameter isCancelled: asked every so often.
  func digest(_ isCancelled: () -> Bool = { false }) throws(BuildError) -> String {
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    guard let state = XXH3_createState() else {
      throw BuildError(path, "no memory for a digest", isTemporary: true)
    }
    defer { XXH3_freeState(state) }
    XXH3_128bits_reset(state)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if isCancelled() { throw .interrupted }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.refused(path) }
      if count == 0 { break }
      XXH3_128bits_update(state, buffer.baseAddress, count)
    }
    let hash = XXH3_128bits_digest(state)
    return [hash.high64, hash.low64].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// The whole content; for files that are small.
  func contents() throws(BuildError) -> [UInt8] {
    let descriptor = try Self.open(path)
    defer { close(descriptor) }
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: identity.size) { buffer, count in
      count = 0
      while count < buffer.count {
        let part = read(descriptor, buffer.baseAddress! + count, buffer.count - count)
        if part < 0, errno == EINTR { continue }
        failed = part < 0
        if part <= 0 { break }
        count += part
      }
    }
    if failed { throw Self.refused(path) }
    return bytes
  }

  /// Whether the file is still the one that was opened first, unwritten.
  func isUnchanged() throws(BuildError) -> Bool { try SourceFile(path: path).identity == identity }

  private static func open(_ path: String) throws(BuildError) -> Int32 {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw refused(path) }
    return descriptor
  }

  private static func identity(_ descriptor: Int32, _ path: String) throws(BuildError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw refused(path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw BuildError(path, "is a folder, not an image")
    default: throw BuildError(path, "is a device or a pipe, not a regular file")
    }
    guard status.st_size > 0 else { throw BuildError(path, "the file is empty") }
    return FileIdentity(status)
  }

  private static func refused(_ path: String) -> BuildError {
    let error = StorageError("read", errno: errno)
    return BuildError(path, error.reason, isTemporary: error.isTemporary)
  }
}
