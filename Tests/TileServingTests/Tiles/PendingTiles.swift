import Synchronization
import TileGeometry
import TileStorage
import ZigguratConcurrency

/// A storage whose tiles arrive when the test decides.
final class PendingTiles: TileBacking {
  private struct State {
    var come: [Int: Outcome] = [:]
    var asked: Set<Int> = []
    var waiting: [(number: Int, body: @Sendable () -> Void)] = []
  }

  /// The outcome of the fetch of a tile.
  enum Outcome: Sendable { case here, unreachable, unreadable, stillNotHere }

  private let archive: TileArchive
  private let state = Mutex(State())

  /// - Parameter archive: the archive with the tiles.
  init(_ archive: TileArchive) { self.archive = archive }

  var isRemote: Bool { true }

  /// The numbers of the requested tiles.
  var asked: Set<Int> { state.withLock { $0.asked } }

  var waiting: Int { state.withLock { $0.waiting.count } }

  func tile(_ number: Int) -> StoredTile {
    state.withLock { _ = $0.asked.insert(number) }
    return tileHere(number) ?? .pending(Fetch(tiles: self, number: number))
  }

  private struct Fetch: Pending {
    let tiles: PendingTiles
    let number: Int

    func whenComplete(_ body: @escaping @Sendable () -> Void) { tiles.observe(number, body) }
  }

  func tileHere(_ number: Int) -> StoredTile? {
    switch state.withLock({ $0.come[number] }) {
    case .here?: archive.stored(number)
    case .unreachable?: .unreachable
    case .unreadable?: .unreadable
    case .stillNotHere?, nil: nil
    }
  }

  func version(ofTile number: Int) -> UInt64? { archive.version(ofTile: number) }

  private func observe(_ number: Int, _ body: @escaping @Sendable () -> Void) {
    let isHere = state.withLock { state in
      if state.come[number] != nil { return true }
      state.waiting.append((number, body))
      return false
    }
    if isHere { body() }
  }

  func come(_ number: Int, _ outcome: Outcome = .here) {
    let waiters = state.withLock { state in
      state.come[number] = outcome
      defer { state.waiting.removeAll { $0.number == number } }
      return state.waiting.filter { $0.number == number }
    }
    for waiter in waiters { waiter.body() }
  }
}
