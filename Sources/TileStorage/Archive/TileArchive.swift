public import TileGeometry
package import ZigguratConcurrency
package import ZigguratFiles

/// The tiles of one image: an SZI 1.2 file, which is a ZIP file without compression, or a Deep Zoom folder.
///
/// An archive can be read by several threads at a time. An SZI file is mapped into memory while the archive is open.
/// Replace a file by renaming another over it: the open archive then continues to read the old one.
///
/// If another process truncates the file in place, `tile(at:)` and `entry(named:)` throw, because they read with
/// `pread`. `init(path:)`, `withTile(at:_:)`, `metadata` and `micronsPerPixel` read the mapping, and the system ends
/// the process with `SIGBUS` there.
public final class TileArchive: Sendable {
  /// The name of the image: of the single folder at the root of an SZI file, or of a `.dzi` file without its extension.
  public let name: String
  /// The image's levels and tiles.
  public let pyramid: Pyramid
  /// The format of all tiles.
  public let format: TileFormat
  /// The tiles' file name extension as the archive spells it.
  package let fileExtension: String
  /// A digest that differs between versions of an archive, for caches and entity tags.
  ///
  /// The digest of an SZI file covers the names, positions, sizes and checksums of all entries. The digest of a Deep
  /// Zoom folder covers its descriptor and the modification times of its folders. It does not cover tiles that are
  /// overwritten in place.
  public let generation: UInt64
  /// The mapped ZIP file, if it is one: its tiles are read without a call through a protocol.
  let zip: MappedZIP?
  /// The storage of archives that are not a mapped ZIP file.
  let backing: (any TileBacking)?
  private let grid: TileGrid
  private let levels: LevelSet
  /// The records among its entries, decoded on first use.
  let records = ArchiveRecords()

  /// The maximum number of attempts to get a pending tile.
  package static let maxAttempts = 8

  /// Opens an SZI file, or the descriptor of a Deep Zoom folder.
  ///
  /// The directory of an SZI file is read and checked. Tiles are not.
  ///
  /// - Parameter path: a file. If it ends in `.dzi` it is a descriptor, whose tiles are in the folder `NAME_files`
  ///   beside it.
  /// - Throws: `notFound`, `accessDenied`, `unavailable`, or `damaged` if it is not an archive.
  public convenience init(path: String) throws(ArchiveError) {
    do throws(StorageError) { try self.init(path: path, within: nil) } catch { throw ArchiveError(error) }
  }

  /// - Parameters:
  ///   - path: the path of a ZIP file, or of a Deep Zoom descriptor that ends in `.dzi`.
  ///   - enclosure: the library; links that lead out of it are refused. Without one, the file itself may be a link. A
  ///     descriptor's tiles are in its folder in any case.
  package convenience init(path: String, within enclosure: RootDirectory?) throws(StorageError) {
    do {
      if path.hasSuffix(".dzi") {
        try self.init(DeepZoomFolder(path: path, within: enclosure))
      } else {
        try self.init(file: MappedFile(path: path, within: enclosure))
      }
    } catch {
      // The readers below get the bytes alone; their errors get the file's name here.
      throw error.action.hasPrefix("open ") ? error : error.during("open \(path)")
    }
  }

  /// Opens a ZIP file by its descriptor; the file may have no name.
  /// - Parameter path: the file's name in errors.
  package convenience init(descriptor: Int32, path: String) throws(StorageError) {
    try self.init(file: MappedFile(descriptor: descriptor, path: path))
  }

  /// Opens a mapped ZIP file.
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
  ///   - fileExtension: the tiles' extension as the archive spells it; nil for the format's own.
  ///   - generation: differs between all versions.
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

  /// Returns the tile's index in constant time; nil outside the pyramid.
  package func tileIndex(level: Int, column: Int, row: Int) -> Int? {
    grid.index(level: level, column: column, row: row)
  }

  /// Returns the encoded tile, a slice that is valid as long as the archive. Nil if the archive has no such tile or it
  /// cannot be read. Blocks while the tile is fetched.
  package func tile(_ number: Int) -> UnsafeRawBufferPointer? {
    if let zip { return zip.tile(number) }
    return waitForTile(number).bytes
  }

  /// Returns the tile if it is in memory, with its version under the same generation. Returns nil otherwise; `stored`
  /// then returns the reason.
  package func versionedTile(_ number: Int) -> (bytes: UnsafeRawBufferPointer, version: UInt64)? {
    if let zip { return zip.tile(number).map { ($0, 0) } }
    guard case .here(let bytes, let version)? = backing?.tileHere(number) else { return nil }
    return (bytes, version)
  }

  /// Returns a tile that is not in memory, to wait for. It is fetched for the first caller that waits. Nil if `stored`
  /// need not wait.
  package func pendingTile(_ number: Int) -> (any Pending)? {
    guard let backing, backing.isRemote, backing.tileHere(number) == nil else { return nil }
    return TileFetch(backing: backing, number: number)
  }

  /// Returns the present state of the tile.
  package func stored(_ number: Int) -> StoredTile {
    if let backing { return backing.tile(number) }
    guard let zip else { preconditionFailure("an archive has a backing") }
    if let bytes = zip.tile(number) { return .here(bytes, version: 0) }
    return zip.lacks(number) ? .notFound : .unreadable
  }

  /// Returns the state of the tile after it was fetched: never `.pending`. Not for threads on which others depend.
  package func waitForTile(_ number: Int) -> StoredTile {
    backing?.waitForTile(number) ?? stored(number)
  }

  /// Returns a copy of the tile; nil if the archive was written without it. Blocks like `waitForTile`.
  func copy(ofTile number: Int) throws(StorageError) -> [UInt8]? {
    if let zip { return try zip.copy(ofTile: number) }
    return try backing?.copy(ofTile: number, action(ofTile: number)) ?? nil
  }

  /// Returns the action of reading the tile, for an error.
  func action(ofTile number: Int) -> String {
    let address = pyramid.address(at: number).map { " \($0.level)/\($0.column)_\($0.row)" } ?? ""
    return "read tile\(address) of \(name)"
  }

  /// Fetches those of the tiles that are not in memory, together.
  package func expect(_ numbers: [Int]) {
    guard let backing, backing.isRemote else { return }
    backing.expect(numbers)
  }

  /// Whether tiles may have to be fetched.
  package var isRemote: Bool { backing?.isRemote ?? false }

  /// Returns the tile's version without the tile; nil if there is no such tile.
  package func version(ofTile number: Int) -> UInt64? {
    if let backing { return backing.version(ofTile: number) }
    return checksum(ofTile: number) == nil ? nil : 0
  }

  /// Whether tiles may change while the generation stays, because they are separate files.
  package var hasTileVersions: Bool { backing?.hasTileVersions ?? false }

  /// Whether the archive's file contains a CRC-32 of each tile.
  package var statesChecksums: Bool { zip != nil }

  /// Returns the CRC-32 of the tile in the archive's directory; nil if the directory has none.
  package func checksum(ofTile number: Int) -> UInt32? { zip?.checksum(ofTile: number) }

  /// The coarsest stored level. `vips dzsave --depth` omits coarser ones.
  package var coarsestLevel: Int { levels.coarsest }

  /// Whether any tile of the level is stored.
  func hasTiles(ofLevel level: Int) -> Bool { levels.contains(level) }

  // MARK: Entries

  /// Returns the bytes of an entry that is not a tile. Its name is relative to the archive's root folder
  /// (`scan-properties.xml`, `associated_images/label.jpg`).
  package func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    zip.map { $0.entry(relativeName) } ?? backing?.entry(relativeName)
  }

  /// Whether an entry that is not a tile can be read and has the directory's checksum, if the directory has one.
  package func isIntact(_ relativeName: String) -> Bool {
    zip.map { $0.isIntact(relativeName) } ?? (backing?.entry(relativeName) != nil)
  }

  /// The names of the entries that are not tiles, relative to the root folder, sorted. A Deep Zoom folder has none.
  public var entryNames: [String] { zip?.entryNames ?? backing?.entryNames ?? [] }

  // MARK: The archive

  /// The size of the whole archive in bytes; nil if the tiles are separate files, whose total size is unknown.
  package var byteCount: Int? { zip?.file.bytes.count ?? backing?.byteCount }

  /// The file of a mapped ZIP. It contains the tiles in the form in which they are sent.
  package var file: MappedFile? { zip?.file }

  /// The defect of an archive of this program that is visible without reading its tiles; nil if none is visible.
  package var visibleDefect: String? { zip?.visibleDefect }

  /// Whether it occupies so much memory that the image should be reopened. A holder of a tile keeps this one as long as
  /// necessary.
  package var shouldReopen: Bool { backing?.shouldReopen ?? false }

  /// Whether nothing of it may be kept any longer, because its private space is locked.
  package var isLocked: Bool { backing?.isLocked ?? false }
}
