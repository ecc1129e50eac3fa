import Synchronization
import TileStorage

/// An archive's tiles in the hands of somebody who has no archive: each is asked for when it is needed, and those
/// that are known to be needed next along with it.
///
/// For one render, on one thread: a tile's bytes are there until the next tiles are fetched.
final class GatheredTiles: Sendable {
  private struct State {
    /// What was fetched last.
    var tiles: [Int: Tile] = [:]
    /// Of all tiles that were heard of; nil where there is none.
    var stamps: [Int: UInt64?] = [:]
    /// Numbers that will be needed, in this order.
    var wanted: ArraySlice<Int> = []
  }

  private enum Tile {
    case stored(UnsafeMutableRawBufferPointer, stamp: UInt64)
    case lacking, unreachable, unreadable
  }

  private let fetch: @Sendable ([Int]) -> [GatheredTile]
  let hasStamps: Bool
  let levels: LevelSet
  // Raw pointers are no danger: they are read on the one thread that renders.
  private nonisolated(unsafe) var state = State()

  init(hasStamps: Bool, levels: LevelSet, fetch: @escaping @Sendable ([Int]) -> [GatheredTile]) {
    self.hasStamps = hasStamps
    self.levels = levels
    self.fetch = fetch
  }

  deinit { release() }

  func expect(_ number: Int, stamp: UInt64?) { state.stamps[number] = .some(stamp) }

  /// Tells which tiles will be needed, in this order.
  func want(_ numbers: [Int]) { state.wanted = numbers[...] }

  private func release() {
    for case .stored(let bytes, _) in state.tiles.values { bytes.deallocate() }
    state.tiles = [:]
  }

  private func found(_ number: Int) -> Tile {
    if let known = state.tiles[number] { return known }
    release()
    // Those in front of it were not needed after all.
    if let place = state.wanted.firstIndex(of: number) { state.wanted = state.wanted[place...] }
    let asked = state.wanted.first == number ? Array(state.wanted) : [number]
    let fetched = fetch(asked)
    for (number, tile) in zip(asked, fetched) {
      switch tile {
      case .stored(let bytes, let stamp):
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyBytes(from: bytes)
        state.tiles[number] = .stored(copy, stamp: stamp)
        state.stamps[number] = .some(stamp)
      case .lacking:
        state.tiles[number] = .lacking
        state.stamps[number] = .some(nil)
      case .unreachable:
        state.tiles[number] = .unreachable
        state.stamps[number] = .some(nil)
      case .unreadable:
        state.tiles[number] = .unreadable
        state.stamps[number] = .some(nil)
      }
    }
    if asked.count > 1 { state.wanted = state.wanted.dropFirst(fetched.count) }
    return state.tiles[number] ?? .unreadable
  }
}

extension GatheredTiles: TileBacking {
  func tile(_ number: Int) -> StoredTile {
    switch found(number) {
    case .stored(let bytes, let stamp): .here(UnsafeRawBufferPointer(bytes), stamp: stamp)
    case .lacking: .notThere
    case .unreachable: .unreachable
    case .unreadable: .unreadable
    }
  }

  func stamp(ofTile number: Int) -> UInt64? {
    if let known = state.stamps[number] { return known }
    return if case .stored(_, let stamp) = found(number) { stamp } else { nil }
  }
}
