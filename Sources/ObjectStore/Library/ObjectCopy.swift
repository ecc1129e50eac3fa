package import TileStorage
import ZigguratConcurrency
package import ZigguratFiles

extension ObjectReading {
  /// The number of bytes of one request, and the number of requests at a time. With several, the latency of a distant
  /// store counts once.
  private static var piece: Int { 1 << 20 }
  private static var maximum: Int { 4 }

  /// Copies the whole object into a file. Waits for the store.
  /// - Parameter each: called with the bytes in order.
  func copy(
    _ version: ObjectVersion, _ each: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(ObjectError) -> TemporaryFile {
    // A full disk is not an error of the store, but the object is unavailable all the same.
    guard let file = try? TemporaryFile() else { throw .unavailable }
    let isWritten = try readWhole(version, RetryPolicy(count: 1)) { bytes in
      each(bytes)
      return (try? file.write(bytes)) != nil
    }
    guard isWritten else { throw .unavailable }
    return file
  }

  /// Copies a whole archive, and checks its digest.
  /// - Parameters:
  ///   - digest: the SHA-256 of the archive.
  ///   - action: the action for errors.
  func copy(_ version: ObjectVersion, of digest: [UInt8], _ action: String) throws(StorageError)
    -> TemporaryFile
  {
    var sha256 = SHA256()
    let file: TemporaryFile
    do throws(ObjectError) { file = try copy(version) { sha256.update($0) } } catch {
      throw StorageError(action, error.description, kind: error == .missing ? .unreadable : error.kind)
    }
    guard sha256.digest() == digest else {
      throw StorageError(action, "it is not what was written: its SHA-256 differs")
    }
    return file
  }

  /// Reads the whole object piece by piece. Waits for the store.
  /// - Parameters:
  ///   - tries: the retry policy for each piece.
  ///   - body: called with the bytes in order, until it returns false.
  /// - Returns: whether `body` got all bytes.
  func readWhole(
    _ version: ObjectVersion, _ tries: RetryPolicy, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(ObjectError) -> Bool {
    var asked = 0
    var pieces: [(range: Range<Int>, bytes: Future<Result<ObjectBytes, ObjectError>>)] = []
    while asked < version.byteCount || !pieces.isEmpty {
      while pieces.count < Self.maximum, asked < version.byteCount {
        let range = asked..<min(asked + Self.piece, version.byteCount)
        pieces.append((range, pending(version, range)))
        asked = range.upperBound
      }
      let (range, first) = pieces.removeFirst()
      var begun: Future<Result<ObjectBytes, ObjectError>>? = first
      let piece = try tries.run { () throws(ObjectError) in
        defer { begun = nil }
        return try (begun ?? pending(version, range)).value().get()
      }
      guard withExtendedLifetime(piece, { body(piece.bytes) }) else { return false }
    }
    return true
  }
}

extension ObjectLibrary {
  /// Calls `body` with a copy of an image's whole archive. The digest is checked first, and the copy exists during the
  /// call.
  package func withCopy<Result>(
    of image: Image, _ body: (TileArchive) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let file = try client.copy(image.image.version, of: image.digest, "read \(image.key)")
    return try body(TileArchive(descriptor: file.descriptor, path: image.key))
  }
}
