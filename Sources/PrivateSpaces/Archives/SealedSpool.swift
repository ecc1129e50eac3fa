import Glibc
import Synchronization
import TileStorage
import ZigguratCSodium
package import ZigguratFiles

/// A file on its way into a space. It is encrypted on arrival with a key of its own, which exists only in locked
/// memory.
///
/// The file on the disk has no name, so its bytes are lost when the process ends in any way. Each piece is a random
/// nonce and XChaCha20-Poly1305, with the place of the piece authenticated. It is not a stream with a counter. A client
/// that lost its connection continues from an earlier byte, and a stream that is set back would use a nonce twice.
package final class SealedSpool: Sendable {
  private struct Piece {
    /// The place of the plain bytes in the uploaded file.
    let position: Int
    let count: Int
    /// The place of the encrypted bytes in the file on the disk.
    let offset: Int

    var place: [UInt8] { position.littleEndianBytes + count.littleEndianBytes }
    var sealedCount: Int { count + XChaCha.overhead }
  }

  private struct State {
    var pieces: [Piece] = []
    var isGone = false

    var position: Int { pieces.last.map { $0.position + $0.count } ?? 0 }
    var offset: Int { pieces.last.map { $0.offset + $0.sealedCount } ?? 0 }
  }

  private let key = LockedBytes.random(32)
  let descriptor: Int32
  /// Held while the key is used, so that nothing is encrypted with a wiped key.
  private let state = Mutex(State())

  /// - Parameter folder: a folder on the disk that stores the encrypted bytes.
  package init(folder: String) throws(StorageError) {
    CoreDumps.forbid()
    var template = Array("\(folder)/.sealed-XXXXXX".utf8CString)
    descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw StorageError("write into \(folder)", errno: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    unlink(template)
  }

  deinit { close(descriptor) }

  /// Encrypts bytes of the file from `position` on, and replaces everything from there on.
  /// - Parameter position: the start of the bytes of an earlier call, or the end of the file.
  package func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError) {
    try exclusively { (state) throws(StorageError) in
      state.pieces.removeAll { $0.position >= position }
      guard state.position == position else {
        throw StorageError("seal an upload", "it does not go on where it ended")
      }
      let piece = Piece(position: position, count: bytes.count, offset: state.offset)
      let sealed = XChaCha.seal(bytes, key: key.base, authenticating: piece.place)
      guard lseek(descriptor, off_t(piece.offset), SEEK_SET) >= 0 else {
        throw StorageError("seal an upload", errno: errno)
      }
      try Self.write(sealed, to: descriptor)
      state.pieces.append(piece)
    }
  }

  /// Returns the first bytes of the file, at most `count`.
  package func start(_ count: Int) throws(StorageError) -> [UInt8] {
    var start: [UInt8] = []
    var number = 0
    while start.count < count, let piece = try open(number) {
      start += piece.prefix(count - start.count)
      number += 1
    }
    return start
  }

  /// Returns the whole decrypted file in memory.
  package func unsealed() throws(StorageError) -> MemoryFile {
    let file = try MemoryFile()
    var number = 0
    while var piece = try open(number) {
      defer { sodium_memzero(&piece, piece.count) }
      try Self.write(piece, to: file.descriptor)
      number += 1
    }
    return file
  }

  /// Wipes the key and releases the room on the disk.
  package func discard() {
    state.withLock { state in
      state.pieces = []
      state.isGone = true
      key.wipe()
      ftruncate(descriptor, 0)
    }
  }

  /// Decrypts a piece; nil after the last one.
  private func open(_ number: Int) throws(StorageError) -> [UInt8]? {
    try exclusively { (state) throws(StorageError) in
      guard number < state.pieces.count else { return nil }
      let piece = state.pieces[number]
      var sealed = [UInt8](repeating: 0, count: piece.sealedCount)
      let count = sealed.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(piece.offset))
      }
      guard count == sealed.count,
        let plain = XChaCha.open(sealed, key: key.base, authenticating: piece.place)
      else {
        throw StorageError("open an upload", "what was sealed has been changed")
      }
      return plain
    }
  }

  private func exclusively<Result: Sendable>(
    _ body: (inout State) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    try state.withLock { (state) throws(StorageError) in
      guard !state.isGone else { throw SpaceKeys.locked("seal an upload") }
      return try body(&state)
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(StorageError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, path: "an upload")
    }
  }
}

/// A file that is only in memory, for libraries that read files. It may be swapped out.
package final class MemoryFile: Sendable {
  let descriptor: Int32

  init() throws(StorageError) {
    descriptor = make_memory_file()
    guard descriptor >= 0 else { throw StorageError("make a file in memory", errno: errno) }
  }

  deinit { close(descriptor) }

  /// The path for this process, while the file lives.
  package var path: String { "/proc/self/fd/\(descriptor)" }
}
