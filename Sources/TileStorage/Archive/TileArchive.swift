public import Files
public import TileGeometry

/// One image's tiles, wherever they lie: in a stored ZIP (SZI 1.2) that is mapped and read in place, in a Deep Zoom
/// folder, in a private space, in memory.
///
/// A tile is found by arithmetic and given as a slice that lives as long as the archive.
public final class TileArchive: Sendable {
  /// The name of the image in its archive: of the one folder at a ZIP's root, of a `.dzi` without its ending.
  public let name: String
  /// The image's levels and tiles.
  public let pyramid: Pyramid
  /// The format that all tiles are encoded in.
  public let format: TileFormat
  /// The tiles' ending as the archive spells it.
  public let fileExtension: String
  /// What tells this version of the archive from others: of a ZIP a digest of its central directory, which holds
  /// every entry's name, place, size and CRC-32.
  public let generation: UInt64
  /// The mapped file of a ZIP, else nil: its tiles are read without asking a protocol.
  let zip: MappedZIP?
  /// All that is no mapped ZIP.
  let backing: (any TileBacking)?
  private let grid: TileGrid
  private let levels: LevelSet
  /// The records among its entries, once they were asked for.
  let records = ArchiveRecords()

  /// How often a tile that was to come is asked for again.
  package static let patience = 8

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
      // The readers below know the bytes only; their errors get the file's name here.
      throw error.action.hasPrefix("open ") ? error : error.during("open \(path)")
    }
  }

  /// A ZIP file that is open, and may have no name.
  /// - Parameter path: what errors call it.
  package convenience init(descriptor: Int32, path: String) throws(StorageError) {
    try self.init(file: MappedFile(descriptor: descriptor, path: path))
  }

  /// A ZIP file that is mapped.
  convenience init(file: MappedFile) throws(StorageError) { self.init(try MappedZIP(file)) }

  private init(_ zip: MappedZIP) {
    (name, pyramid, format) = (zip.name, zip.descriptor.pyramid, zip.descriptor.format)
    (fileExtension, generation) = (zip.descriptor.fileExtension, zip.generation)
    (grid, levels) = (zip.grid, zip.levels)
    (self.zip, backing) = (zip, nil)
  }

  /// - Parameters:
  ///   - fileExtension: the tiles' ending as the archive spells it; the format's own where nil.
  ///   - generation: differs from that of every other version.
  package init(
    name: String, pyramid: Pyramid, format: TileFormat, fileExtension: String? = nil, generation: UInt64,
    backing: any TileBacking
  ) {
    (self.name, self.pyramid, self.format) = (name, pyramid, format)
    (self.fileExtension, self.generation) = (fileExtension ?? format.fileExtension, generation)
    (grid, levels) = (TileGrid(pyramid), backing.levels)
    (zip, self.backing) = (nil, backing)
  }

  private convenience init(_ image: DeepZoomFolder) {
    self.init(
      name: image.name, pyramid: image.descriptor.pyramid, format: image.descriptor.format,
      fileExtension: image.descriptor.fileExtension, generation: image.generation, backing: image.tiles)
  }

  // MARK: Tiles

  /// The tile's index, or nil outside the pyramid, in constant time.
  public func tileIndex(level: Int, column: Int, row: Int) -> Int? {
    grid.index(level: level, column: column, row: row)
  }

  /// The encoded tile, a slice that lives as long as the archive; nil where the archive has no such tile or it cannot
  /// be read. Waits where the tile has to come from elsewhere.
  public func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    if let zip { return zip.tile(number) }
    return awaited(number).bytes
  }

  /// The tile where it is here now, and what tells this version of it from those before it under the same generation;
  /// nil where it is not, for which `stored` has the reason.
  package func stampedTile(_ number: Int) -> (bytes: UnsafeRawBufferPointer, stamp: UInt64)? {
    if let zip { return zip.tile(number).map { ($0, 0) } }
    guard case .here(let bytes, let stamp)? = backing?.tileHere(number) else { return nil }
    return (bytes, stamp)
  }

  /// The coming of a tile that is not here: it is fetched for who waits for it. Nil where `stored` answers at once.
  package func arrival(ofTile number: Int) -> TileArrival? {
    guard let backing, backing.mayBeLate, backing.tileHere(number) == nil else { return nil }
    return TileArrival { observer in
      guard case .notHereYet(let arrival) = backing.tile(number) else { return observer.tell() }
      arrival.whenHere(observer)
    }
  }

  /// What is at the tile's place now.
  package func stored(_ number: Int) -> StoredTile {
    if let backing { return backing.tile(number) }
    guard let zip else { preconditionFailure("an archive has a backing") }
    if let bytes = zip.tile(number) { return .here(bytes, stamp: 0) }
    return zip.lacks(number) ? .notThere : .unreadable
  }

  /// The same once it has come: never `.notHereYet`. Not for threads that others wait for.
  package func awaited(_ number: Int) -> StoredTile {
    for _ in 0..<Self.patience {
      let stored = stored(number)
      guard case .notHereYet(let arrival) = stored else { return stored }
      arrival.wait()
    }
    return .unreachable
  }

  /// Has all these tiles come that are not here yet, together.
  package func expect(_ numbers: [Int]) {
    guard let backing, backing.mayBeLate else { return }
    backing.expect(numbers)
  }

  /// Whether tiles may be not here yet.
  package var mayBeLate: Bool { backing?.mayBeLate ?? false }

  /// The tile's stamp without the tile; nil where there is no such tile.
  package func stamp(ofTile number: Int) -> UInt64? {
    if let backing { return backing.stamp(ofTile: number) }
    return checksum(ofTile: number) == nil ? nil : 0
  }

  /// Whether tiles may change while the generation stays, since they are files of their own.
  package var hasStamps: Bool { backing?.hasStamps ?? false }

  /// Whether the tiles' file states a CRC-32 of each.
  package var statesChecksums: Bool { zip != nil }

  /// The CRC-32 that the archive's directory states for the tile; nil where it states none.
  public func checksum(ofTile number: Int) -> UInt32? { zip?.checksum(ofTile: number) }

  /// Coarser levels than this are not stored, as `vips dzsave --depth` leaves them.
  public var coarsestLevel: Int { levels.coarsest }

  /// Whether any tile of the level is stored.
  func hasTiles(ofLevel level: Int) -> Bool { levels.contains(level) }

  // MARK: Entries

  /// The bytes of an entry that is not a tile, named below the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  public func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    zip.map { $0.entry(relativeName) } ?? backing?.entry(relativeName)
  }

  /// Whether an entry that is not a tile can be read and has the checksum that the directory states, if any does.
  public func isIntact(_ relativeName: String) -> Bool {
    zip.map { $0.isIntact(relativeName) } ?? (backing?.entry(relativeName) != nil)
  }

  /// The names of the entries that are not tiles, below the root folder, sorted.
  public var entryNames: [String] { zip?.entryNames ?? backing?.entryNames ?? [] }

  // MARK: The archive

  /// Bytes of the whole archive; nil where the tiles are files of their own, which nobody has added up.
  public var byteCount: Int? { zip?.file.bytes.count ?? backing?.byteCount }

  /// The file of a mapped ZIP, in which its tiles lie as they are sent.
  package var file: MappedFile? { zip?.file }

  /// What is wrong with an archive of our own, as far as it is seen without reading its tiles; nil where nothing is.
  public var visibleFault: String? { zip?.visibleFault }

  /// Whether it holds so much that the image should be opened anew; whoever has a tile keeps this one as long
  /// as he needs it.
  package var isWornOut: Bool { backing?.isWornOut ?? false }

  /// Whether nothing of it may be kept any longer, since the private space that it is of is locked.
  package var isLocked: Bool { backing?.isLocked ?? false }
}
