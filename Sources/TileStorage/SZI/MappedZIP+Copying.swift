import TileGeometry
import ZigguratFiles

/// Reads that copy. They do not touch the mapping, so that a file that others cut short is an error, not a SIGBUS.
extension MappedZIP {
  /// Returns a copy of the tile; `nil` if the archive was written without it.
  ///
  /// - Throws: if the tile is missing, the file was cut short, or the bytes are not those of the directory's checksum.
  func copy(ofTile number: Int) throws(StorageError) -> [UInt8]? {
    let action = "read \(name(ofTile: number))"
    guard let place = place(number) else {
      if lacks(number) { return nil }
      throw StorageError(action, "it is missing")
    }
    return try copy(place, action)
  }

  /// Returns a copy of an entry that is not a tile; `nil` if there is none.
  func copy(ofEntry relativeName: String) throws(StorageError) -> [UInt8]? {
    guard let place = place(ofEntry: relativeName) else { return nil }
    return try copy(place, "read \(relativeName)")
  }

  private func copy(_ place: TileIndex.Place, _ action: String) throws(StorageError) -> [UInt8] {
    guard file.descriptor >= 0 else {
      // The file is its owner's, who sees to it that nobody cuts it short, or it is in memory.
      guard let bytes = bytes(place) else { throw StorageError(action, "its header is damaged") }
      return try checked(Array(bytes), place, action)
    }
    let reader = PlacedReader(descriptor: file.descriptor, size: file.bytes.count)
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
