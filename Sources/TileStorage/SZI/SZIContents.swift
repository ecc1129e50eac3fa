import Files
import TileGeometry

/// What the directory of a stored ZIP (SZI 1.2) says: which image it is and where everything lies.
struct SZIContents: ~Copyable {
  let root: SZIRoot
  /// A digest of the central directory, which holds every entry's name, place, size and CRC-32.
  let generation: UInt64
  /// Entries that are not tiles: the descriptor, properties, associated images.
  let others: [String: TileIndex.Place]
  let index: TileIndex
  let levels: LevelSet
  /// How far the levels' names lie below Deep Zoom's numbers.
  let levelOffset: Int

  init(_ directory: ZIPDirectory, _ root: SZIRoot) throws(StorageError) {
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
    self.root = root
    generation = Digest.of(directory.bytes)
    self.others = others
    self.index = index
    self.levels = levels.raised(by: offset)
    levelOffset = offset
  }

  /// Where the tile lies; nil where the archive has no such tile.
  func place(_ number: Int) -> TileIndex.Place? {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset != .max else {
      return nil
    }
    return index.places[number]
  }

  /// Whether whoever wrote the archive left the tile out, as `vips dzsave --skip-blanks` does where its level has
  /// others, and `--depth` where its level is coarser than all that are stored. Of our own archives none are.
  func lacks(_ number: Int) -> Bool {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset == .max,
      let level = root.descriptor.pyramid.address(at: number)?.level
    else { return false }
    return (levels.contains(level) || level < levels.coarsest) && others[BuildRecord.entryName] == nil
  }

  /// What the archive calls the tile.
  func name(ofTile number: Int) -> [UInt8]? {
    root.descriptor.pyramid.address(at: number).map {
      root.name(ofTile: TileAddress(level: $0.level - levelOffset, column: $0.column, row: $0.row))
    }
  }
}
