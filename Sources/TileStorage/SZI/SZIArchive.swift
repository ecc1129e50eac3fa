public import Files
public import TileGeometry

/// One image's tiles in a stored ZIP (SZI 1.2), mapped and read in place.
///
/// Opening reads the central directory once; a tile is then found by arithmetic and given as a slice
/// of the mapping, which lives as long as the archive. A `.dzi` with its folder of tiles is read the same way.
public final class SZIArchive: Sendable {
  /// The name of the one folder at the archive's root.
  public let name: String
  public let pyramid: Pyramid
  public let format: TileFormat
  /// The tiles' ending as the archive spells it.
  public let fileExtension: String
  /// A digest of the central directory, which holds every entry's name, place, size and CRC-32.
  public let generation: UInt64
  package let file: MappedFile
  /// Entries that are not tiles: the descriptor, properties, associated images.
  private let others: [String: TileIndex.Place]
  // Written once, before the archive is shared.
  nonisolated(unsafe) let index: TileIndex
  /// Where the tiles do not lie in `file`.
  let loose: (any LooseTiles)?
  private let levels: LevelSet

  /// Opens a ZIP file, or a Deep Zoom descriptor that ends in `.dzi` with its folder of tiles beside it.
  public convenience init(path: String) throws(StorageError) { try self.init(path: path, within: nil) }

  /// - Parameters:
  ///   - path: of a ZIP file, or of a Deep Zoom descriptor that ends in `.dzi`.
  ///   - enclosure: the library, which no link leads out of. Without one the file itself may be a link; a
  ///     descriptor's tiles lie in its folder in any case.
  package convenience init(path: String, within enclosure: Enclosure?) throws(StorageError) {
    do {
      if path.hasSuffix(".dzi") {
        try self.init(DeepZoomFolder(path: path, within: enclosure))
      } else {
        try self.init(file: MappedFile(path: path, within: enclosure))
      }
    } catch {
      // The reader below knows the bytes only; its error gets the file's name here.
      throw error.action.hasPrefix("open ")
        ? error : StorageError("open \(path)", error.reason, code: error.code)
    }
  }

  init(file: MappedFile) throws(StorageError) {
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
    name = root.name
    pyramid = root.descriptor.pyramid
    format = root.descriptor.format
    fileExtension = root.descriptor.fileExtension
    generation = Digest.of(directory.bytes)
    self.file = file
    self.others = others
    self.index = index
    self.levels = levels.raised(by: offset)
    loose = nil
  }

  /// - Parameter file: of which the tiles are made, or which describes them.
  package init(
    name: String, pyramid: Pyramid, format: TileFormat, fileExtension: String, generation: UInt64,
    file: MappedFile, loose: any LooseTiles
  ) {
    (self.name, self.pyramid, self.format) = (name, pyramid, format)
    (self.fileExtension, self.generation, self.file) = (fileExtension, generation, file)
    others = [:]
    index = TileIndex(levelsOf: pyramid)
    levels = loose.levels
    self.loose = loose
  }

  private convenience init(_ image: DeepZoomFolder) {
    self.init(
      name: image.name, pyramid: image.descriptor.pyramid, format: image.descriptor.format,
      fileExtension: image.descriptor.fileExtension, generation: image.generation, file: image.file,
      loose: image.tiles)
  }

  /// Bytes of the whole file; of the descriptor alone where the tiles are files of their own.
  public var byteCount: Int { file.bytes.count }

  /// Whether the tiles do not lie in `file`.
  public var isFolder: Bool { loose != nil }

  /// Whether it holds so much that the image should be opened anew; whoever has a tile keeps this one as long
  /// as he needs it.
  public var isWornOut: Bool { loose?.isWornOut ?? false }

  /// Whether nothing of it may be kept any longer, since the private space that it is of is locked.
  public var isLocked: Bool { loose?.isLocked ?? false }

  /// Whether a tile could not be read a moment ago for want of memory or descriptors: no fault of the archive.
  public var wasHeldUp: Bool { loose?.wasHeldUp ?? false }

  /// The tile's index, or nil outside the pyramid, in constant time.
  public func tileIndex(level: Int, column: Int, row: Int) -> Int? {
    index.grid.index(level: level, column: column, row: row)
  }

  /// The encoded tile, a slice of the mapping; nil where the archive has no such tile or is damaged there.
  public func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    if let loose { return loose.tile(number) }
    guard number >= 0, number < index.places.count else { return nil }
    return bytes(index.places[number])
  }

  /// The encoded tile, and what tells this version of it from those before it under the same generation.
  public func stampedTile(_ number: Int) -> (bytes: UnsafeRawBufferPointer, stamp: UInt64)? {
    if let loose { return loose.stampedTile(number) }
    return tile(number).map { ($0, 0) }
  }

  /// The same stamp without the tile; nil where there is no such tile.
  public func stamp(ofTile number: Int) -> UInt64? { loose == nil ? 0 : loose?.stamp(ofTile: number) }

  /// Whether tiles may change while the generation stays, since they are files of their own.
  public var hasStamps: Bool { loose?.hasStamps ?? false }

  /// Coarser levels than this are not stored, as `vips dzsave --depth` leaves them.
  public var coarsestLevel: Int { levels.coarsest }

  /// Whether any tile of the level is stored.
  func hasTiles(ofLevel level: Int) -> Bool { levels.contains(level) }

  /// Whether whoever wrote the archive left the tile out, as `vips dzsave --skip-blanks` does: its level has
  /// others. Of our own archives none are.
  public func lacks(_ number: Int) -> Bool {
    if let loose { return loose.lacks(number) }
    guard number >= 0, number < index.places.count, index.places[number].headerOffset == .max,
      let level = pyramid.address(at: number)?.level
    else { return false }
    return levels.contains(level) && others[BuildRecord.entryName] == nil
  }

  /// The CRC-32 that the directory states for the tile.
  public func checksum(ofTile number: Int) -> UInt32? {
    guard number >= 0, number < index.places.count, index.places[number].headerOffset != .max else {
      return nil
    }
    return index.places[number].crc
  }

  /// The bytes of an entry that is not a tile, named below the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  public func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    if let loose { return loose.entry(relativeName) }
    return others[relativeName].flatMap(bytes)
  }

  /// Whether an entry that is not a tile can be read and has the checksum that the directory states.
  public func isIntact(_ relativeName: String) -> Bool {
    guard let place = others[relativeName], let bytes = bytes(place) else { return false }
    return TileStorage.checksum(bytes) == place.crc
  }

  /// The names of the entries that are not tiles, below the root folder, sorted.
  public var entryNames: [String] { others.keys.sorted() }

  /// A stored entry's data starts after its *local* name and extra field, whose lengths are the
  /// local header's own (SZI 1.2; the directory's may differ).
  private func bytes(_ place: TileIndex.Place) -> UnsafeRawBufferPointer? {
    ZIPLocalEntry.data(in: file.bytes, headerOffset: place.headerOffset, size: Int(place.size))
  }
}
