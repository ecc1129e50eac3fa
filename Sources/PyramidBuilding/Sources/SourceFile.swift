import Glibc
import TileStorage
import ZigguratFiles

/// A source file that is opened once. It checks that the file can be read, and computes the digest of its content.
///
/// The file is read, not mapped: truncating a mapped file would end the process.
struct SourceFile: Sendable {
  let path: String
  let handle: ReadableFile
  /// The last component of the path, or another given name.
  let name: String
  let identity: FileIdentity

  /// Opens a regular, readable, non-empty file. A device or a pipe would never end.
  ///
  /// - Parameter enclosure: the folder that links must not lead out of; nil if links are followed.
  init(path: String, name: String? = nil, within enclosure: String? = nil) throws(BuildError) {
    self.path = path
    // Split by bytes: a combining accent at the start of a name would join the slash before it.
    let last = path.utf8.split(separator: UInt8(ascii: "/")).last
    self.name = name ?? last.flatMap { String($0) } ?? path
    guard let handle = ReadableFile(path: path) else { throw Self.refused(path) }
    self.handle = handle
    if let enclosure {
      // Since the scan, a link may have come to lead elsewhere.
      guard let folder = try? RootDirectory(enclosure), folder.holds(handle.descriptor) else {
        throw BuildError(path, "is a link that leads out of its folder; --follow-links follows it")
      }
    }
    var status = stat()
    guard fstat(handle.descriptor, &status) == 0 else { throw Self.refused(path) }
    identity = try Self.identity(status, path)
  }

  /// A reader of parts of the file, valid as long as this value.
  var reader: PositionalReader { PositionalReader(descriptor: handle.descriptor, size: identity.size) }

  /// Returns a part of the file; nil if the file is too short.
  func bytes(_ offset: Int, _ count: Int) -> [UInt8]? {
    withExtendedLifetime(handle) { reader.bytes(offset, count) }
  }

  /// Returns at most `count` bytes from `offset` on; none if they cannot be read.
  func bytes(from offset: Int = 0, atMost count: Int) -> [UInt8] {
    bytes(offset, min(count, identity.size - offset)) ?? []
  }

  /// Returns the XXH3-128 of the content, hexadecimal.
  ///
  /// - Parameter isCancelled: called repeatedly.
  func digest(_ isCancelled: () -> Bool = { false }) throws(BuildError) -> String {
    guard let content = ContentDigest() else { throw noMemory }
    try read(isCancelled, { bytes, _ in content.add(bytes) })
    return content.text
  }

  /// Returns the digest of the content and that of the data which determine the pixels, if those can be separated; see
  /// `PixelFingerprint`.
  ///
  /// - Parameter isCancelled: called repeatedly.
  func digests(_ isCancelled: () -> Bool) throws(BuildError) -> (content: String, pixels: String?) {
    guard let content = ContentDigest(), let pixels = ContentDigest() else { throw noMemory }
    let parts = PixelFingerprint(self)
    var kept = (parts?.kept ?? [])[...]
    try read(isCancelled) { bytes, position in
      content.add(bytes)
      while let range = kept.first, range.lowerBound < position + bytes.count {
        let part = range.clamped(to: position..<position + bytes.count)
        pixels.add(
          UnsafeRawBufferPointer(rebasing: bytes[part.lowerBound - position..<part.upperBound - position]))
        if range.upperBound > position + bytes.count { break }
        kept.removeFirst()
      }
    }
    guard let parts, kept.isEmpty else { return (content.text, nil) }
    (parts.further + withUnsafeBytes(of: UInt64(parts.further.count).littleEndian, Array.init))
      .withUnsafeBytes { pixels.add($0) }
    return (content.text, pixels.text)
  }

  private var noMemory: BuildError { BuildError(path, "no memory for a digest", isTemporary: true) }

  private func read(
    _ isCancelled: () -> Bool, _ body: (_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Void
  ) throws(BuildError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var position = 0
    while true {
      let count = pread(handle.descriptor, buffer.baseAddress, buffer.count, position)
      if isCancelled() { throw .interrupted }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.refused(path) }
      if count == 0 { return }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]), position)
      position += count
    }
  }

  /// Returns the whole content, for small files.
  func contents() throws(BuildError) -> [UInt8] {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: identity.size) { buffer, done in
      count = handle.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      done = max(count, 0)
    }
    guard count >= 0 else { throw Self.refused(path) }
    return bytes
  }

  /// Whether the path still refers to the opened file, and it is unmodified.
  func isUnchanged() throws(BuildError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Self.refused(path) }
    return try Self.identity(status, path) == identity
  }

  private static func identity(_ status: stat, _ path: String) throws(BuildError) -> FileIdentity {
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
    return BuildError(path, error.reason, BuildError.Kind(error, isOfSource: true))
  }
}
