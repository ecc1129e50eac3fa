public import TileGeometry
package import ZigguratFiles
package import ZigguratThreads

/// The tiles of one image: an SZI 1.2 file, which is a ZIP file without compression, or a Deep Zoom folder.
///
/// An archive can be read by several threads at a time. An SZI file is mapped into memory while the archive is open.
/// Replace a file by renaming another over it: the open archive then continues to read the old one.
///
/// If another process truncates the file in place, `tile(at:)` and `entry(named:)` throw, because they read with
/// `pread`. `init(path:)`, `withTile(at:_:)`, `metadata` and `micronsPerPixel` read the mapping, and the system ends the
/// process with `SIGBUS` there.
public final class TileArchive: Sendable {
  /// The name of the image: of the one folder at the root of an SZI file, or of a `.dzi` file without its extension.
  public let name: String
  /// The image's levels and tiles.
  public let pyramid: Pyramid
  /// The format of all tiles.
  public let format: TileFormat
  /// The tiles' ending as the archive spells it.
  package let fileExtension: String
  /// A digest that differs between versions of an archive, for caches and entity tags.
  ///
  /// That of an SZI file covers the names, positions, sizes and checksums of all entries. That of a Deep Zoom folder
  /// covers its descriptor and the modification times of its folders, but not tiles that are overwritten in place.
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

  /// Opens an SZI file, or the descriptor of a Deep Zoom folder.
  ///
  /// The directory of an SZI file is read and checked. Tiles are not.
  ///
  /// - Parameter path: a file. If it ends in `.dzi` it is a descriptor, whose tiles are in the folder `NAME_files`
  ///   beside it.
  /// - Throws: `notFound`, `accessDenied`, `unavailable`, or `damaged` if it is no archive.
  public convenience init(path: String) throws(ArchiveError) {
    do throws(StorageError) { try self.init(path: path, within: nil) } catch { throw ArchiveError(error) }
  }

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
    name = zip.name
    pyramid = zip.descriptor.pyramid
    format = zip.descriptor.format
    fileExtension = zip.descriptor.fileExtension
    generation = zip.generation
    grid = zip.grid
    levels = zip.levels
    self.zip = zip
    backing = nil
  }

  /// - Parameters:
  ///   - fileExtension: the tiles' ending as the archive spells it; the format's own where nil.
  ///   - generation: differs from that of every other version.
  package init(
    name: String, pyramid: Pyramid, format: TileFormat, fileExtension: String? = nil, generation: UInt64,
    backing: any TileBacking
  ) {
    self.name = name
    self.pyramid = pyramid
    self.format = format
    self.fileExtension = fileExtension ?? format.fileExtension
    self.generation = generation
    grid = TileGrid(pyramid)
    levels = backing.levels
    zip = nil
    self.backing = backing
  }

  private convenience init(_ image: DeepZoomFolder) {
    self.init(
      name: image.name, pyramid: image.descriptor.pyramid, format: image.descriptor.format,
      fileExtension: image.descriptor.fileExtension, generation: image.generation, backing: image.tiles)
  }

  // MARK: Tiles

  /// The tile's index, or nil outside the pyramid, in constant time.
  package func tileIndex(level: Int, column: Int, row: Int) -> Int? {
    grid.index(level: level, column: column, row: row)
  }

  /// The encoded tile, a slice that lives as long as the archive; nil where the archive has no such tile or it cannot
  /// be read. Waits where the tile has to come from elsewhere.
  package func tile(_ number: Int) -> UnsafeRawBufferPointer? {
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

  /// Returns a tile that is not in memory, to be waited for: it is fetched for the first who does. Nil if `stored` answers at
  /// once.
  package func pendingTile(_ number: Int) -> (any Pending)? {
    guard let backing, backing.mayBeLate, backing.tileHere(number) == nil else { return nil }
    return TileFetch(backing: backing, number: number)
  }

  /// What is at the tile's place now.
  package func stored(_ number: Int) -> StoredTile {
    if let backing { return backing.tile(number) }
    guard let zip else { preconditionFailure("an archive has a backing") }
    if let bytes = zip.tile(number) { return .here(bytes, stamp: 0) }
    return zip.lacks(number) ? .notThere : .unreadable
  }

  /// The same once it has come: never `.pending`. Not for threads that others wait for.
  package func awaited(_ number: Int) -> StoredTile {
    backing?.awaited(number) ?? stored(number)
  }

  /// Returns a copy of the tile; `nil` if the archive was written without it. Waits as `awaited` does.
  func copy(ofTile number: Int) throws(StorageError) -> [UInt8]? {
    if let zip { return try zip.copy(ofTile: number) }
    return try backing?.copy(ofTile: number, action(ofTile: number)) ?? nil
  }

  /// Reading the tile, in words for an error.
  func action(ofTile number: Int) -> String {
    let address = pyramid.address(at: number).map { " \($0.level)/\($0.column)_\($0.row)" } ?? ""
    return "read tile\(address) of \(name)"
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
  package func checksum(ofTile number: Int) -> UInt32? { zip?.checksum(ofTile: number) }

  /// Coarser levels than this are not stored, as `vips dzsave --depth` leaves them.
  package var coarsestLevel: Int { levels.coarsest }

  /// Whether any tile of the level is stored.
  func hasTiles(ofLevel level: Int) -> Bool { levels.contains(level) }

  // MARK: Entries

  /// The bytes of an entry that is not a tile, named below the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  package func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    zip.map { $0.entry(relativeName) } ?? backing?.entry(relativeName)
  }

  /// Whether an entry that is not a tile can be read and has the checksum that the directory states, if any does.
  package func isIntact(_ relativeName: String) -> Bool {
    zip.map { $0.isIntact(relativeName) } ?? (backing?.entry(relativeName) != nil)
  }

  /// The names of the entries that are not tiles, below the root folder, sorted. A Deep Zoom folder has none.
  public var entryNames: [String] { zip?.entryNames ?? backing?.entryNames ?? [] }

  // MARK: The archive

  /// Bytes of the whole archive; nil where the tiles are files of their own, which nobody has added up.
  package var byteCount: Int? { zip?.file.bytes.count ?? backing?.byteCount }

  /// The file of a mapped ZIP, in which its tiles lie as they are sent.
  package var file: MappedFile? { zip?.file }

  /// What is wrong with an archive of our own, as far as it is seen without reading its tiles; nil where nothing is.
  package var visibleFault: String? { zip?.visibleFault }

  /// Whether it holds so much that the image should be opened anew; whoever has a tile keeps this one as long
  /// as he needs it.
  package var isWornOut: Bool { backing?.isWornOut ?? false }

  /// Whether nothing of it may be kept any longer, since the private space that it is of is locked.
  package var isLocked: Bool { backing?.isLocked ?? false }
}
