package import TileStorage
import ZigguratConcurrency
package import ZigguratFiles

extension ObjectReading {
  /// Bytes of one question, and how many are asked at a time: what a far store takes to answer is waited for once.
  private static var piece: Int { 1 << 20 }
  private static var most: Int { 4 }

  /// The whole object in a file; waits for the store.
  /// - Parameter each: is given the bytes on their way, in their order.
  func copy(
    _ version: ObjectVersion, _ each: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(ObjectError) -> TemporaryFile {
    // A full disk is no fault of the store's, and nobody's bytes are had for all that.
    guard let file = try? TemporaryFile() else { throw .unavailable }
    let isWritten = try readWhole(version, RetryPolicy(count: 1)) { bytes in
      each(bytes)
      return (try? file.write(bytes)) != nil
    }
    guard isWritten else { throw .unavailable }
    return file
  }

  /// The same of an archive, which is what was written.
  /// - Parameters:
  ///   - digest: its SHA-256.
  ///   - action: what errors say was to be done.
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

  /// The whole object, piece by piece; waits for the store.
  /// - Parameters:
  ///   - tries: of each piece.
  ///   - body: is given the bytes in their order, until it says false.
  /// - Returns: whether `body` was given all.
  func readWhole(
    _ version: ObjectVersion, _ tries: RetryPolicy, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(ObjectError) -> Bool {
    var asked = 0
    var pieces: [(range: Range<Int>, bytes: Future<Result<ObjectBytes, ObjectError>>)] = []
    while asked < version.byteCount || !pieces.isEmpty {
      while pieces.count < Self.most, asked < version.byteCount {
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
  /// The archive of an image, all of it, as long as `body` takes; its digest is compared before.
  package func withCopy<Result>(
    of image: Image, _ body: (TileArchive) throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let file = try client.copy(image.image.version, of: image.digest, "read \(image.key)")
    return try body(TileArchive(descriptor: file.descriptor, path: image.key))
  }
}
