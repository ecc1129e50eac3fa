import TileGeometry
import ZigguratFiles

/// The directory of a stored ZIP (SZI 1.2): the identity of the image, and the places of all entries.
struct SZIContents: ~Copyable {
  let root: SZIRoot
  /// A digest of the central directory, which contains every entry's name, place, size and CRC-32.
  let generation: UInt64
  /// Entries that are not tiles: the descriptor, properties, associated images.
  let others: [String: TileIndex.Place]
  /// Entries that are not tiles and exceed their kind's maximum size, in clauses.
  let oversized: [String]
  let index: TileIndex
  let levels: LevelSet
  /// The amount by which Deep Zoom's numbers of the levels exceed their folders' names.
  let levelOffset: Int

  init(_ directory: ZIPDirectory, _ root: SZIRoot) throws(StorageError) {
    let pyramid = root.descriptor.pyramid
    // The directory has an entry for each tile. A descriptor may imply more tiles, since other writers omit blank ones,
    // but not so many that a small file takes much memory.
    var room = InputLimit.bytes(ofIndex: directory.bytes.count)
    guard pyramid.tileCount <= room / TileIndex.placeSize else {
      throw StorageError("read the archive", "its descriptor names far more tiles than it holds")
    }
    // A few entries besides are always allowed.
    room = max(room - pyramid.tileCount * TileIndex.placeSize, 4096)
    let maxTileSize = InputLimit.bytes(ofTileSide: pyramid.tileSize + 2 * pyramid.overlap)
    let index = TileIndex(pyramid)
    var others: [String: TileIndex.Place] = [:]
    var oversized: [String] = []
    var levels = LevelSet.none
    let (places, grid) = (index.places, index.grid)
    func read(_ offset: Int) throws(StorageError) {
      var room = room
      try directory.forEntries { (entry) throws(StorageError) in
        guard entry.isPlain else { return }
        // Limits are below the maximum of a place.
        let place = TileIndex.Place(
          headerOffset: entry.headerOffset, size: UInt32(clamping: entry.size), crc: entry.crc)
        if let address = root.tileAddress(ofName: entry.name) {
          levels.insert(address.level)
          if let number = grid.index(
            level: address.level + offset, column: address.column, row: address.row)
          {
            guard entry.size <= maxTileSize else {
              throw StorageError(
                "read the archive", "a tile of \(entry.size) bytes is larger than its pixels can be")
            }
            places[number] = place
          }
        } else if let name = root.relativeName(entry.name), !name.isEmpty, !name.hasSuffix("/") {
          // A place in a growing dictionary, and the name, if it is not stored in the place itself.
          room -= 128 + (name.utf8.count > 15 ? 32 + name.utf8.count : 0)
          guard room >= 0 else {
            throw StorageError("read the archive", "it has too many entries that are not tiles")
          }
          let limit = InputLimit.entry(name)
          guard entry.size <= limit.bytes else {
            others[name] = nil
            if oversized.count < 8 {
              oversized.append("\(name) has \(entry.size) bytes, more than \(limit.bytes)")
            }
            return
          }
          others[name] = place
        }
      }
    }
    try read(0)
    // Archives of this program are whole, or else damaged.
    if others[BuildRecord.entryName] != nil { levels = .all }
    let offset = levels.offset(in: pyramid)
    if offset > 0 {
      others = [:]
      oversized = []
      places.update(repeating: TileIndex.Place(headerOffset: .max, size: 0, crc: 0))
      try read(offset)
    }
    self.root = root
    generation = Digest.of(directory.bytes)
    self.others = others
    self.oversized = oversized
    self.index = index
    self.levels = levels.raised(by: offset)
    levelOffset = offset
  }

  /// Returns the place of the tile; nil if the archive has no such tile.
  func place(_ number: Int) -> TileIndex.Place? {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset != .max else {
      return nil
    }
    return index.places[number]
  }

  /// Whether the program that wrote the archive omitted the tile. `vips dzsave --skip-blanks` omits tiles of a level
  /// that has others, and `--depth` omits levels coarser than all stored ones. Archives of this program omit none.
  func lacks(_ number: Int) -> Bool {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset == .max,
      let level = root.descriptor.pyramid.address(at: number)?.level
    else { return false }
    return (levels.contains(level) || level < levels.coarsest) && others[BuildRecord.entryName] == nil
  }

  /// Returns the tile's name in the archive.
  func name(ofTile number: Int) -> [UInt8]? {
    root.descriptor.pyramid.address(at: number).map {
      root.name(ofTile: TileAddress(level: $0.level - levelOffset, column: $0.column, row: $0.row))
    }
  }
}
