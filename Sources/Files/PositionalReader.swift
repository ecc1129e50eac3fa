import Glibc

/// A reader of parts of a file at given positions.
package struct PositionalReader: Sendable {
  let descriptor: Int32
  package let size: Int

  /// - Parameters:
  ///   - descriptor: the descriptor of the file, open for reading as long as the reader is used.
  ///   - size: the size of the file in bytes.
  package init(descriptor: Int32, size: Int) {
    self.descriptor = descriptor
    self.size = size
  }

  /// Returns a part of the file; nil if the file does not have it.
  package func bytes(_ offset: Int, _ count: Int) -> [UInt8]? { try? read(offset, count, to: "read") }

  /// Returns eight bytes as a big-endian number; nil if the file does not have them. Lists of many short parts are read
  /// so, without an array for each.
  package func number(at offset: Int) -> UInt64? {
    guard offset >= 0, offset <= size - 8 else { return nil }
    var number: UInt64 = 0
    return withUnsafeMutableBytes(of: &number) { bytes in
      while true {
        let count = pread(descriptor, bytes.baseAddress, 8, offset)
        if count < 0, errno == EINTR { continue }
        return count == 8
      }
    } ? UInt64(bigEndian: number) : nil
  }

  /// Returns a part of the file.
  ///
  /// - Parameter action: the verb and the file, for the error.
  /// - Throws: if the file does not have the part, or no longer has it.
  package func read(_ offset: Int, _ count: Int, to action: String) throws(StorageError) -> [UInt8] {
    guard offset >= 0, count >= 0, count <= size, offset <= size - count else {
      throw StorageError(action, "the file is shorter than it says")
    }
    var failure: StorageError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = 0
      while done < count {
        let part = pread(descriptor, buffer.baseAddress! + done, count - done, offset + done)
        if part < 0, errno == EINTR { continue }
        if part == 0 { failure = StorageError(action, "the file was cut short") }
        if part < 0 { failure = StorageError(action, errno: errno) }
        guard part > 0 else { break }
        done += part
      }
    }
    if let failure { throw failure }
    return bytes
  }
}
