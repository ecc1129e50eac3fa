import TileGeometry
import ZigguratFiles

/// Reads that copy. They do not touch the mapping, so that a file truncated by another process is an error, not a
/// SIGBUS.
extension MappedZIP {
  /// Returns a copy of the tile; nil if the archive was written without it.
  ///
  /// - Throws: if the tile is missing, the file was truncated, or the bytes do not match the directory's checksum.
  func copy(ofTile number: Int) throws(StorageError) -> [UInt8]? {
    let action = "read \(name(ofTile: number))"
    guard let place = place(number) else {
      if lacks(number) { return nil }
      throw StorageError(action, "it is missing")
    }
    return try copy(place, action)
  }

  /// Returns a copy of an entry that is not a tile; nil if it does not exist.
  func copy(ofEntry relativeName: String) throws(StorageError) -> [UInt8]? {
    guard let place = place(ofEntry: relativeName) else { return nil }
    return try copy(place, "read \(relativeName)")
  }

  private func copy(_ place: TileIndex.Place, _ action: String) throws(StorageError) -> [UInt8] {
    guard file.descriptor >= 0 else {
      // The owner of the file guarantees that it is not truncated, or it is in memory.
      guard let bytes = bytes(place) else { throw StorageError(action, "its header is damaged") }
      return try checked(Array(bytes), place, action)
    }
    let reader = PositionalReader(descriptor: file.descriptor, size: file.bytes.count)
    let header = try reader.read(place.headerOffset, ZIPRecord.localHeaderSize, to: action)
    guard let headerSize = header.withUnsafeBytes({ ZIPLocalEntry.headerSize(in: $0, at: 0) }) else {
      throw StorageError(action, "its header is damaged")
    }
    return try checked(
      reader.read(place.headerOffset + headerSize, Int(place.size), to: action), place, action)
  }

  private func checked(
    _ bytes: [UInt8], _ place: TileIndex.Place, _ action: String
  ) throws(StorageError) -> [UInt8] {
    guard bytes.withUnsafeBytes({ TileStorage.checksum($0) }) == place.crc else {
      throw StorageError(action, "it is damaged: its checksum differs")
    }
    return bytes
  }
}
