import Foundation
import TileGeometry
import TileStorage
import ZigguratFiles

/// A writer of one encrypted archive, from front to back. No plain data reaches the disk. When `finish` returns, the
/// space's index contains the archive.
///
/// The file consists of these parts:
/// - the generation
/// - encrypted tiles and entries, in the order in which they are appended
/// - the encrypted table, with the offset and the size of every tile (twelve bytes, little-endian)
/// - the encrypted head (JSON)
/// - encrypted padding up to a size class
/// - the encrypted trailer
final class SealedArchiveWriter: ArchiveWriter {
  private let enter: (_ entry: SpaceIndex.Entry, _ file: AtomicFile) throws(StorageError) -> Void
  private let name: String
  private let file: AtomicFile
  private let seal: Seal
  private var head: ArchiveHead
  private var places: [SealedArchive.Place]
  private var buffer: [UInt8] = []
  private var flushed = 0
  private static let bufferSize = 1 << 20
  private var position: Int { flushed + buffer.count }

  /// - Parameters:
  ///   - source: the generation that the archive copies from another key of the space.
  ///   - enter: publishes the complete file.
  init(
    keys: SpaceKeys, folder: SpaceFolder, id: String, pyramid: Pyramid, format: TileFormat,
    source: String? = nil,
    enter: @escaping (_ entry: SpaceIndex.Entry, _ file: AtomicFile) throws(StorageError) -> Void
  ) throws(StorageError) {
    precondition(pyramid.overlap == 0, "tiles of a sealed archive do not overlap")
    self.enter = enter
    name = keys.makeName()
    file = try AtomicFile(destination: folder.path(name))
    seal = Seal(keys: keys, generation: .random())
    head = ArchiveHead(id: id, pyramid: pyramid, format: format)
    head.source = source
    places = Array(repeating: SealedArchive.Place(offset: -1, count: 0), count: pyramid.tileCount)
    buffer.reserveCapacity(Self.bufferSize + (1 << 18))
    buffer += seal.generation.bytes
  }

  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError) {
    precondition(places[index].offset < 0, "a tile is written once")
    let (offset, count) = try append(bytes, .tile, index)
    places[index] = SealedArchive.Place(offset: offset, count: UInt32(count))
  }

  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError) {
    let (offset, count) = try append(bytes, .entry, head.entries.count)
    head.entries.append(ArchiveHead.Entry(name: relativeName, offset: offset, count: count))
  }

  func finish() throws(StorageError) -> Int {
    precondition(places.allSatisfy { $0.offset >= 0 }, "an archive holds every tile")
    let table = places.flatMap { place in
      place.offset.littleEndianBytes + place.count.littleEndianBytes
    }
    let (tableOffset, _) = try append(table, .table, 0)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Strings and numbers always encode.
    let (headOffset, headCount) = try append(Array(try! encoder.encode(head)), .head, 0)
    let padding = ArchivePadding(behind: position + ArchiveTrailer.sealedCount)
    for (number, count) in padding.sealedCounts.enumerated() {
      _ = try append([UInt8](repeating: 0, count: count - Seal.overhead), .padding, number)
    }
    let trailer = ArchiveTrailer(
      tableOffset: tableOffset, headOffset: headOffset, headCount: headCount,
      fileCount: position + ArchiveTrailer.sealedCount)
    _ = try append(trailer.bytes, .trailer, 0)
    try flush()
    let entry = SpaceIndex.Entry(file: name, generation: seal.generation.text, bytes: flushed)
    try enter(entry, file)
    return flushed
  }

  func abandon() { file.abandon() }

  private func append(
    _ bytes: [UInt8], _ kind: Seal.Kind, _ index: Int
  ) throws(StorageError) -> (offset: Int, count: Int) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try append(UnsafeRawBufferPointer(bytes), kind, index)
    }
  }

  /// - Returns: the place and the number of the encrypted bytes.
  private func append(
    _ bytes: UnsafeRawBufferPointer, _ kind: Seal.Kind, _ index: Int
  ) throws(StorageError) -> (offset: Int, count: Int) {
    let count = bytes.count + Seal.overhead
    guard count <= UInt32.max else {
      throw StorageError("write \(file.destination)", "an entry of \(bytes.count) bytes is too large")
    }
    let (offset, start) = (position, buffer.count)
    buffer.append(contentsOf: repeatElement(0, count: count))
    buffer.withUnsafeMutableBytes { buffer in
      seal.close(bytes, kind, index, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
    }
    if buffer.count >= Self.bufferSize { try flush() }
    return (offset, count)
  }

  private func flush() throws(StorageError) {
    guard !seal.keys.isWiped else { throw SpaceKeys.locked("write \(file.destination)") }
    try buffer.withUnsafeBufferPointer { (bytes) throws(StorageError) in
      try file.write(UnsafeRawBufferPointer(bytes))
    }
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }
}
