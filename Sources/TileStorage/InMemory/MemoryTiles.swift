package import TileGeometry
import ZigguratFiles

/// Tiles that exist only in memory.
final class MemoryTiles: TileBacking {
  // Sendable: written before it is shared, and freed after its last reference.
  private nonisolated(unsafe) let tiles: [UnsafeMutableRawBufferPointer?]
  private nonisolated(unsafe) let entries: [String: UnsafeMutableRawBufferPointer]
  let levels: LevelSet
  /// A digest of all tiles and entries.
  let generation: UInt64

  init(_ pyramid: Pyramid, entries: [String: [UInt8]], tile: (Int) -> [UInt8]?) {
    tiles = (0..<pyramid.tileCount).map { tile($0).map(Self.kept) }
    self.entries = entries.mapValues(Self.kept)
    var levels = LevelSet.none
    var generation: UInt64 = 0
    for (number, tile) in tiles.enumerated() {
      generation = Digest.step(generation, tile.map { Digest.of(UnsafeRawBufferPointer($0)) } ?? 0)
      if tile != nil, let level = pyramid.address(at: number)?.level { levels.insert(level) }
    }
    for (name, bytes) in self.entries.sorted(by: { $0.key < $1.key }) {
      generation = Digest.step(generation, Array(name.utf8).withUnsafeBytes { Digest.of($0) })
      generation = Digest.step(generation, Digest.of(UnsafeRawBufferPointer(bytes)))
    }
    self.levels = levels
    self.generation = generation
  }

  deinit { for buffer in tiles.compactMap({ $0 }) + entries.values { buffer.deallocate() } }

  private static func kept(_ bytes: [UInt8]) -> UnsafeMutableRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    buffer.copyBytes(from: bytes)
    return buffer
  }

  func tile(_ number: Int) -> StoredTile {
    guard tiles.indices.contains(number) else { return .unreadable }
    return tiles[number].map { .here(UnsafeRawBufferPointer($0), version: 0) } ?? .notFound
  }

  func version(ofTile number: Int) -> UInt64? {
    tiles.indices.contains(number) && tiles[number] != nil ? 0 : nil
  }

  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    entries[relativeName].map { UnsafeRawBufferPointer($0) }
  }

  var entryNames: [String] { entries.keys.sorted() }

  var byteCount: Int? { (tiles.compactMap { $0 } + entries.values).reduce(0) { $0 + $1.count } }
}

extension TileArchive {
  /// Creates an archive in memory.
  ///
  /// - Parameters:
  ///   - entries: the entries that are not tiles, by the names that `entry` accepts.
  ///   - tile: returns the encoded tile of a number; nil if the tile does not exist.
  package convenience init(
    inMemory pyramid: Pyramid, name: String = "memory", format: TileFormat = .jpeg,
    entries: [String: [UInt8]] = [:], tile: (_ number: Int) -> [UInt8]?
  ) {
    let tiles = MemoryTiles(pyramid, entries: entries, tile: tile)
    self.init(
      name: name, pyramid: pyramid, format: format, generation: tiles.generation, backing: tiles)
  }
}
