import TileGeometry
import ZigguratFiles

/// A stored ZIP (SZI 1.2), mapped and read in place.
///
/// Opening reads the central directory once. A tile is then found by arithmetic and returned as a slice of the mapping,
/// which is valid as long as this object.
final class MappedZIP: Sendable {
  // Written once, before the archive is shared.
  nonisolated(unsafe) private let contents: SZIContents
  let file: MappedFile

  var name: String { contents.root.name }
  var descriptor: DeepZoomDescriptor { contents.root.descriptor }
  var pyramid: Pyramid { descriptor.pyramid }
  var generation: UInt64 { contents.generation }
  var grid: TileGrid { contents.index.grid }
  var places: UnsafeMutableBufferPointer<TileIndex.Place> { contents.index.places }
  var levels: LevelSet { contents.levels }
  var oversized: [String] { contents.oversized }

  init(_ file: MappedFile) throws(StorageError) {
    let directory = try ZIPDirectory(file.bytes)
    let root = try SZIRoot(directory) {
      ZIPLocalEntry.data(in: file.bytes, headerOffset: $0.headerOffset, size: $0.size)
    }
    contents = try SZIContents(directory, root)
    self.file = file
  }

  /// Returns the encoded tile, a slice of the mapping; nil if the archive has no such tile or is damaged there.
  func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    guard number >= 0, number < contents.index.places.count else { return nil }
    return bytes(contents.index.places[number])
  }

  /// Whether the tile was omitted; see `SZIContents.lacks`.
  func lacks(_ number: Int) -> Bool { contents.lacks(number) }

  /// Returns the place of the tile; nil if the archive has no such tile.
  func place(_ number: Int) -> TileIndex.Place? { contents.place(number) }

  /// Returns the place of an entry that is not a tile; nil if it does not exist.
  func place(ofEntry relativeName: String) -> TileIndex.Place? { contents.others[relativeName] }

  /// Returns the CRC-32 of the tile in the directory.
  func checksum(ofTile number: Int) -> UInt32? { contents.place(number)?.crc }

  /// Returns the bytes of an entry that is not a tile. Its name is relative to the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    contents.others[relativeName].flatMap(bytes)
  }

  /// Whether an entry that is not a tile can be read and has the directory's checksum.
  func isIntact(_ relativeName: String) -> Bool {
    guard let place = contents.others[relativeName], let bytes = bytes(place) else { return false }
    return TileStorage.checksum(bytes) == place.crc
  }

  /// Returns the size in bytes of an entry that is not a tile; nil if it does not exist.
  func byteCount(ofEntry relativeName: String) -> Int? {
    contents.others[relativeName].map { Int($0.size) }
  }

  /// The names of the entries that are not tiles, relative to the root folder, sorted.
  var entryNames: [String] { contents.others.keys.sorted() }

  /// Returns the data of a stored entry. It starts after the entry's *local* name and extra field, whose lengths are in
  /// the local header (SZI 1.2; those in the directory may differ).
  func bytes(_ place: TileIndex.Place) -> UnsafeRawBufferPointer? {
    ZIPLocalEntry.data(in: file.bytes, headerOffset: place.headerOffset, size: Int(place.size))
  }
}
