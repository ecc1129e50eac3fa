import Glibc
import TileGeometry
package import ZigguratFiles

extension ObjectImage {
  /// The number of bytes at the end that are read first: the directory of an archive of 2,500 tiles, and the data
  /// before it.
  static let endCount = 256 << 10
  /// The number of bytes before a directory that are read with it: the descriptor and small entries of this program.
  private static let before = 64 << 10
  /// The maximum size of a directory in bytes: that of ten million tiles.
  private static let maxDirectorySize = 1 << 30

  /// Opens the archive under a key by one read of its end, and by a second if it has more than 2,500 tiles.
  /// - Parameters:
  ///   - generation: the expected generation, since the directory has no checksum of its own; nil if none is known.
  ///   - done: called once, on a thread that may block.
  package static func open(
    key: String, generation: UInt64? = nil, from store: any ObjectReading, _ memory: TileCache,
    _ done: @escaping @Sendable (Result<ObjectImage, StorageError>) -> Void
  ) {
    let opening = Opening(generation: generation, store: store, memory: memory, done: done)
    store.readEnd(ofKey: key, atMost: endCount, by: .now + timeout) { result in
      _ = TileCache.workers.submit(always: true) {
        switch result {
        case .failure(let error): done(.failure(error.error(key)))
        case .success(let end): opening.take(end.version, [end.bytes], rounds: 0)
        }
      }
    }
  }

  /// The state of an opening.
  private struct Opening: Sendable {
    let generation: UInt64?
    let store: any ObjectReading
    let memory: TileCache
    let done: @Sendable (Result<ObjectImage, StorageError>) -> Void

    /// - Parameter pieces: consecutive pieces of the object's end.
    func take(_ version: ObjectVersion, _ pieces: [ObjectBytes], rounds: Int) {
      let joined = pieces.count == 1 ? pieces[0] : ObjectBytes(copying: pieces.flatMap { Array($0.bytes) })
      guard let end = joined else {
        return done(
          .failure(StorageError("read the archive", "no memory for its directory", kind: .unreachable)))
      }
      let start = version.byteCount - end.bytes.count
      do throws(StorageError) {
        if case .before(let first) = try ZIPDirectory.extent(end.bytes, at: start) {
          let from = max(0, first - ObjectImage.before)
          // The end of a long directory may lie before these bytes, and the directory before that.
          guard rounds < 2, start - from <= ObjectImage.maxDirectorySize else {
            throw StorageError("read the archive", "its ZIP directory is damaged or too long")
          }
          return read(version, from..<start) { take(version, [$0, end], rounds: rounds + 1) }
        }
        let entry = try SZIRoot.findDescriptor(ZIPDirectory(end.bytes, at: start)).entry
        if entry.headerOffset >= start { return try finish(version, end, start, descriptor: end, at: start) }
        // Archives of other programs have it anywhere.
        let most = ZIPRecord.localHeaderSize + 2 * 0xffff + min(entry.size, 0x1_0001)
        let range = entry.headerOffset..<min(entry.headerOffset + most, version.byteCount)
        read(version, range) { bytes in
          do throws(StorageError) {
            try finish(version, end, start, descriptor: bytes, at: range.lowerBound)
          } catch {
            done(.failure(error.during("open the object \(version.key)")))
          }
        }
      } catch { done(.failure(error.during("open the object \(version.key)"))) }
    }

    private func read(
      _ version: ObjectVersion, _ range: Range<Int>, _ body: @escaping @Sendable (ObjectBytes) -> Void
    ) {
      store.read(version, range, by: .now + ObjectImage.timeout) { result in
        _ = TileCache.workers.submit(always: true) {
          switch result {
          case .failure(let error): done(.failure(error.error(version.key)))
          case .success(let bytes): body(bytes)
          }
        }
      }
    }

    private func finish(
      _ version: ObjectVersion, _ end: ObjectBytes, _ start: Int, descriptor: ObjectBytes,
      at descriptorStart: Int
    ) throws(StorageError) {
      let directory = try ZIPDirectory(end.bytes, at: start)
      let root = try SZIRoot(directory) { entry in
        let bytes = ZIPLocalEntry.data(
          in: descriptor.bytes, headerOffset: entry.headerOffset - descriptorStart, size: entry.size)
        return bytes.flatMap { checksum($0) == entry.crc ? $0 : nil }
      }
      let contents = try SZIContents(directory, root)
      guard generation == nil || generation == contents.generation else {
        throw StorageError("read the archive", "it is not the version that is listed", kind: .unreachable)
      }
      var entries: [String: ObjectBytes] = [:]
      for (name, place) in contents.others where place.headerOffset >= start {
        let bytes = ZIPLocalEntry.data(
          in: end.bytes, headerOffset: place.headerOffset - start, size: Int(place.size))
        if let bytes, checksum(bytes) == place.crc { entries[name] = ObjectBytes(copying: bytes) }
      }
      let image = ObjectImage(version, contents, entries: entries, from: store, memory)
      image.keepTiles(in: end)
      done(.success(image))
    }
  }
}
