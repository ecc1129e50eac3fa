import Glibc
import TileStorage
import ZigguratFiles

extension SealedArchive {
  /// Copies the archive with other keys into a new file, and reads that back.
  /// - Parameter isStopped: called from time to time with the number of bytes that were read.
  /// - Returns: nil if the copy was stopped.
  func copied(
    to keys: SpaceKeys, in folder: SpaceFolder, isStopped: (Int) -> Bool
  ) throws(StorageError) -> SpaceIndex.Entry? {
    var result: SpaceIndex.Entry?
    let writer = try SealedArchiveWriter(
      keys: keys, folder: folder, id: id, pyramid: pyramid, format: format, source: generationText
    ) { (entry, file) throws(StorageError) in
      try folder.publish(file)
      result = entry
    }
    // After `finish` this does nothing.
    defer { writer.abandon() }
    var done = 0
    for number in tilesInOrder {
      guard let bytes = copy(number) else { throw StorageError("read", "tile \(number) is damaged") }
      try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
        try writer.append(tile: number, UnsafeRawBufferPointer(bytes), crc: 0)
      }
      done += bytes.count + Seal.overhead
      if isStopped(done) { return nil }
    }
    for name in entryNamesInOrder {
      guard let bytes = entry(name) else { throw StorageError("read", "\(name) is damaged") }
      try writer.append(name, bytes)
    }
    _ = try writer.finish()
    guard let result, try SealedArchive(id: id, entry: result, folder: folder, keys: keys).isWhole else {
      throw StorageError("read", "its copy cannot be read back", code: EIO)
    }
    return result
  }

  /// Whether everything in the archive can be decrypted.
  var isWhole: Bool {
    (0..<pyramid.tileCount).allSatisfy { copy($0) != nil } && entryNames.allSatisfy(isIntact)
  }
}
