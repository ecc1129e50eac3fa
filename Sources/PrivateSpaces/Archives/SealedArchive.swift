import Foundation
package import TileGeometry
package import TileStorage
import ZigguratFiles

/// One encrypted image of an open space. It is mapped, and decrypted tile by tile into the reader's own memory.
///
/// It holds the space's keys as long as it lives.
package final class SealedArchive: CheckableArchive, Sendable {
  /// The text of the image's id in the archive.
  let id: String
  package let pyramid: Pyramid
  package let format: TileFormat
  /// A number that differs for every written archive.
  package let generation: UInt64
  let file: MappedFile
  private let seal: Seal
  private let head: ArchiveHead
  private let places: [Place]
  private let padding: (offset: Int, pieces: ArchivePadding)
  private let grid: TileGrid

  /// The place of encrypted bytes in the file.
  struct Place: Sendable {
    var offset: Int
    var count: UInt32
  }

  private static let tablePlaceCount = 12

  /// - Parameters:
  ///   - id: the id in the space's index.
  ///   - entry: the index's entry for the file.
  convenience init(
    id: String, entry: SpaceIndex.Entry, folder: SpaceFolder, keys: SpaceKeys
  ) throws(StorageError) {
    try self.init(file: entry.file, folder: folder, keys: keys) { $0 == entry.generation }
    guard self.id == id, byteCount == entry.bytes else {
      throw StorageError("open \(folder.path(entry.file))", "it is another picture's")
    }
  }

  /// - Parameter isExpected: whether a file of a generation may be at that place.
  init(
    file name: String, folder: SpaceFolder, keys: SpaceKeys,
    isExpected: (_ generation: String) -> Bool = { _ in true }
  ) throws(StorageError) {
    let file = try MappedFile(path: folder.path(name), keepsDescriptor: false)
    func defect(_ what: String) -> StorageError { StorageError("open \(folder.path(name))", what) }
    guard file.bytes.count >= Generation.byteCount + ArchiveTrailer.sealedCount else {
      throw defect("it is cut short")
    }
    let generation = Generation(file.bytes)
    guard isExpected(generation.text) else {
      throw defect("it is not the version of the picture that the space's index names")
    }
    let seal = Seal(keys: keys, generation: generation)
    func open(_ offset: Int, _ count: Int, _ kind: Seal.Kind) -> [UInt8]? {
      Self.slice(file, offset, count).flatMap { seal.open($0, kind, 0) }
    }
    let end = file.bytes.count - ArchiveTrailer.sealedCount
    guard let trailer = open(end, ArchiveTrailer.sealedCount, .trailer).flatMap(ArchiveTrailer.init),
      trailer.fileCount == file.bytes.count
    else { throw defect("it is damaged at its end or was cut") }
    guard let text = open(trailer.headOffset, trailer.headCount, .head),
      let head = try? JSONDecoder().decode(ArchiveHead.self, from: Data(text)),
      let size = PixelSize(width: head.width, height: head.height), head.tileSize > 0,
      let pyramid = Pyramid(imageSize: size, tileSize: head.tileSize),
      let format = TileFormat(fileExtension: head.format)
    else { throw defect("its description is damaged") }
    // A piece that could be decrypted is inside the file.
    let paddingOffset = trailer.headOffset + trailer.headCount
    guard let pieces = ArchivePadding(byteCount: end - paddingOffset) else {
      throw defect("it is damaged before its end")
    }
    padding = (paddingOffset, pieces)
    // The count is checked against the file before memory of that size is allocated.
    let (tableCount, isHuge) = pyramid.tileCount.multipliedReportingOverflow(by: Self.tablePlaceCount)
    guard !isHuge, tableCount < file.bytes.count,
      let table = open(trailer.tableOffset, tableCount + Seal.overhead, .table)
    else { throw defect("its table of tiles is damaged") }
    places = table.withUnsafeBytes { table in
      (0..<pyramid.tileCount).map { number in
        let at = number * Self.tablePlaceCount
        let offset = UInt64(littleEndian: table.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let count = UInt32(littleEndian: table.loadUnaligned(fromByteOffset: at + 8, as: UInt32.self))
        return Place(offset: Int(exactly: offset) ?? .max, count: count)
      }
    }
    id = head.id
    self.pyramid = pyramid
    self.format = format
    self.generation = generation.key
    self.file = file
    self.seal = seal
    self.head = head
    grid = TileGrid(pyramid)
  }

  /// The generation that this archive copies from another key; nil if the archive was built.
  var source: String? { head.source }

  var generationText: String { seal.generation.text }

  /// Returns the entry of the file for the space's index.
  /// - Parameter name: the name of the file.
  func indexEntry(_ name: String) -> SpaceIndex.Entry {
    SpaceIndex.Entry(file: name, generation: generationText, bytes: byteCount)
  }

  /// The numbers of the tiles, in the order of the file.
  var tilesInOrder: [Int] { places.indices.sorted { places[$0].offset < places[$1].offset } }

  /// The names of the entries, in the order of the file.
  var entryNamesInOrder: [String] { head.entries.map(\.name) }

  /// Returns the bytes of a tile; nil if it is damaged, or does not belong to this place.
  func copy(_ number: Int) -> [UInt8]? {
    guard let count = byteCount(ofTile: number) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return bytes.withUnsafeMutableBytes { read(tile: number, into: $0) } ? bytes : nil
  }

  /// Whether the keys are wiped.
  var isLocked: Bool { seal.keys.isWiped }

  /// The size of the whole file in bytes.
  package var byteCount: Int { file.bytes.count }

  package var fileExtension: String { format.fileExtension }

  /// Returns the index of a tile in constant time; nil outside the pyramid.
  package func tileIndex(level: Int, column: Int, row: Int) -> Int? {
    grid.index(level: level, column: column, row: row)
  }

  /// Returns the size of an encoded tile in bytes; nil outside the pyramid, or if the table is invalid.
  package func byteCount(ofTile number: Int) -> Int? {
    guard number >= 0, number < places.count, places[number].count >= Seal.overhead else { return nil }
    return Int(places[number].count) - Seal.overhead
  }

  /// Decrypts a tile. Returns false and writes only zeros if it does not belong to this place.
  ///
  /// - Parameter bytes: room for `byteCount(ofTile:)` bytes.
  package func read(tile number: Int, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard number >= 0, number < places.count,
      let sealed = Self.slice(file, places[number].offset, Int(places[number].count)),
      sealed.count == bytes.count + Seal.overhead
    else { return false }
    return seal.open(sealed, .tile, number, into: bytes)
  }

  /// Returns the bytes of an entry that is not a tile; nil if there is none, or it is damaged.
  package func entry(_ relativeName: String) -> [UInt8]? {
    guard let number = head.entries.firstIndex(where: { $0.name == relativeName }) else { return nil }
    let entry = head.entries[number]
    return Self.slice(file, entry.offset, entry.count).flatMap { seal.open($0, .entry, number) }
  }

  /// The names of the entries, sorted.
  package var entryNames: [String] { head.entries.map(\.name).sorted() }

  package func isIntact(_ relativeName: String) -> Bool { entry(relativeName) != nil }

  package func defect(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String? {
    guard let count = byteCount(ofTile: index) else { return "is missing" }
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { bytes in
      guard read(tile: index, into: bytes) else { return "is damaged, or not the one that belongs there" }
      return check(UnsafeRawBufferPointer(bytes))
    }
  }

  package var otherDefects: [String] {
    var offset = padding.offset
    for (number, count) in padding.pieces.sealedCounts.enumerated() {
      guard let sealed = Self.slice(file, offset, count), seal.open(sealed, .padding, number) != nil else {
        return ["what lies behind its tiles is damaged"]
      }
      offset += count
    }
    return []
  }

  package var buildRecord: BuildRecord? {
    entry(BuildRecord.entryName).flatMap { BuildRecord(json: Data($0)) }
  }

  /// The metadata of the source at the time of the build; empty if it had none.
  package var metadata: ImageMetadata {
    entry(ImageMetadata.entryName).flatMap { ImageMetadata(json: Data($0)) } ?? ImageMetadata()
  }

  private static func slice(_ file: MappedFile, _ offset: Int, _ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= Seal.overhead, offset >= 0, offset <= file.bytes.count - count else { return nil }
    return UnsafeRawBufferPointer(rebasing: file.bytes[offset..<(offset + count)])
  }
}
