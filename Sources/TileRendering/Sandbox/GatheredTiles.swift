import Synchronization
import TileStorage

/// An archive's tiles for a process without the archive. Each is fetched when it is needed, together with those that
/// are known to be needed next.
///
/// For one render, on one thread: a tile's bytes are valid until the next fetch.
final class GatheredTiles: Sendable {
  private struct State {
    /// The tiles of the last fetch.
    var tiles: [Int: Tile] = [:]
    /// The versions of all known tiles; nil if a tile does not exist.
    var versions: [Int: UInt64?] = [:]
    /// The numbers of the tiles that will be needed, in this order.
    var wanted: ArraySlice<Int> = []
  }

  private enum Tile {
    case stored(UnsafeMutableRawBufferPointer, version: UInt64)
    case lacking, unreachable, unreadable
  }

  private let fetch: @Sendable ([Int]) -> [GatheredTile]
  let hasTileVersions: Bool
  let levels: LevelSet
  // Raw pointers are safe here: they are read on the one thread that renders.
  private nonisolated(unsafe) var state = State()

  init(hasTileVersions: Bool, levels: LevelSet, fetch: @escaping @Sendable ([Int]) -> [GatheredTile]) {
    self.hasTileVersions = hasTileVersions
    self.levels = levels
    self.fetch = fetch
  }

  deinit { release() }

  func expect(_ number: Int, version: UInt64?) { state.versions[number] = .some(version) }

  /// Sets the tiles that will be needed, in this order.
  func want(_ numbers: [Int]) { state.wanted = numbers[...] }

  private func release() {
    for case .stored(let bytes, _) in state.tiles.values { bytes.deallocate() }
    state.tiles = [:]
  }

  private func found(_ number: Int) -> Tile {
    if let known = state.tiles[number] { return known }
    release()
    // The tiles before it were not needed.
    if let place = state.wanted.firstIndex(of: number) { state.wanted = state.wanted[place...] }
    let asked = state.wanted.first == number ? Array(state.wanted) : [number]
    let fetched = fetch(asked)
    for (number, tile) in zip(asked, fetched) {
      switch tile {
      case .stored(let bytes, let version):
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyBytes(from: bytes)
        state.tiles[number] = .stored(copy, version: version)
        state.versions[number] = .some(version)
      case .lacking:
        state.tiles[number] = .lacking
        state.versions[number] = .some(nil)
      case .unreachable:
        state.tiles[number] = .unreachable
        state.versions[number] = .some(nil)
      case .unreadable:
        state.tiles[number] = .unreadable
        state.versions[number] = .some(nil)
      }
    }
    if asked.count > 1 { state.wanted = state.wanted.dropFirst(fetched.count) }
    return state.tiles[number] ?? .unreadable
  }
}

extension GatheredTiles: TileBacking {
  func tile(_ number: Int) -> StoredTile {
    switch found(number) {
    case .stored(let bytes, let version): .here(UnsafeRawBufferPointer(bytes), version: version)
    case .lacking: .notFound
    case .unreachable: .unreachable
    case .unreadable: .unreadable
    }
  }

  func version(ofTile number: Int) -> UInt64? {
    if let known = state.versions[number] { return known }
    return if case .stored(_, let version) = found(number) { version } else { nil }
  }
}
