import Files
import TileGeometry

/// A stored ZIP (SZI 1.2), mapped and read in place.
///
/// Opening reads the central directory once; a tile is then found by arithmetic and given as a slice
/// of the mapping, which lives as long as this.
final class MappedZIP: Sendable {
  /// The name of the one folder at the archive's root.
  let name: String
  let descriptor: DeepZoomDescriptor
  /// A digest of the central directory, which holds every entry's name, place, size and CRC-32.
  let generation: UInt64
  let file: MappedFile
  /// Entries that are not tiles: the descriptor, properties, associated images.
  private let others: [String: TileIndex.Place]
  // Written once, before the archive is shared.
  nonisolated(unsafe) let index: TileIndex
  let levels: LevelSet

  var pyramid: Pyramid { descriptor.pyramid }

  init(_ file: MappedFile) throws(StorageError) {
    let directory = try ZIPDirectory(file.bytes)
    let root = try SZIRoot(directory, file.bytes)
    // The directory has an entry per tile, so a descriptor that claims a bigger pyramid lies, and must
    // not make us allocate for it. A few blank tiles may be left out by other writers.
    guard root.descriptor.pyramid.tileCount / 64 <= directory.count else {
      throw StorageError("read the archive", "its descriptor names far more tiles than it holds")
    }
    let index = TileIndex(root.descriptor.pyramid)
    var others: [String: TileIndex.Place] = [:]
    var levels = LevelSet.none
    let (places, grid) = (index.places, index.grid)
    func read(_ offset: Int) throws(StorageError) {
      try directory.forEntries { (entry) throws(StorageError) in
        guard entry.isPlain, let size = UInt32(exactly: entry.size) else { return }
        let place = TileIndex.Place(headerOffset: entry.headerOffset, size: size, crc: entry.crc)
        if let address = root.tileAddress(ofName: entry.name) {
          levels.insert(address.level)
          if let number = grid.index(
            level: address.level + offset, column: address.column, row: address.row)
          {
            places[number] = place
          }
        } else if let name = root.relativeName(entry.name) {
          others[name] = place
        }
      }
    }
    try read(0)
    // Our own are whole, or else damaged.
    if others[BuildRecord.entryName] != nil { levels = .all }
    let offset = levels.offset(in: root.descriptor.pyramid)
    if offset > 0 {
      places.update(repeating: TileIndex.Place(headerOffset: .max, size: 0, crc: 0))
      try read(offset)
    }
    (name, descriptor) = (root.name, root.descriptor)
    generation = Digest.of(directory.bytes)
    self.file = file
    self.others = others
    self.index = index
    self.levels = levels.raised(by: offset)
  }

  /// The encoded tile, a slice of the mapping; nil where the archive has no such tile or is damaged there.
  func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    guard number >= 0, number < index.places.count else { return nil }
    return bytes(index.places[number])
  }

  /// Whether whoever wrote the archive left the tile out, as `vips dzsave --skip-blanks` does where its level has
  /// others, and `--depth` where its level is coarser than all that are stored. Of our own archives none are.
  func lacks(_ number: Int) -> Bool {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset == .max,
      let level = pyramid.address(at: number)?.level
    else { return false }
    return (levels.contains(level) || level < levels.coarsest) && others[BuildRecord.entryName] == nil
  }

  /// The CRC-32 that the directory states for the tile.
  func checksum(ofTile number: Int) -> UInt32? {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset != .max else {
      return nil
    }
    return index.places[number].crc
  }

  /// The bytes of an entry that is not a tile, named below the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    others[relativeName].flatMap(bytes)
  }

  /// Whether an entry that is not a tile can be read and has the checksum that the directory states.
  func isIntact(_ relativeName: String) -> Bool {
    guard let place = others[relativeName], let bytes = bytes(place) else { return false }
    return TileStorage.checksum(bytes) == place.crc
  }

  /// The names of the entries that are not tiles, below the root folder, sorted.
  var entryNames: [String] { others.keys.sorted() }

  /// A stored entry's data starts after its *local* name and extra field, whose lengths are the
  /// local header's own (SZI 1.2; the directory's may differ).
  private func bytes(_ place: TileIndex.Place) -> UnsafeRawBufferPointer? {
    ZIPLocalEntry.data(in: file.bytes, headerOffset: place.headerOffset, size: Int(place.size))
  }
}
