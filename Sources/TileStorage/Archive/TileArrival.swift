import Threads

/// A tile that is on its way to where it can be read.
///
/// Who waits is told once, whether it came or not, and asks the archive again.
package struct TileArrival: Sendable {
  private let observe: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameter observe: has its argument called once, at once where the tile is there meanwhile; within the time
  ///   that the storage may take to answer.
  package init(_ observe: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.observe = observe
  }

  /// Calls `body` once, on any thread, maybe before this returns.
  package func whenHere(_ body: @escaping @Sendable () -> Void) { observe(body) }

  /// Returns when the archive can be asked again; not for threads that others wait for.
  package func wait() {
    let wakeUps = WakeUps()
    observe { wakeUps.signal() }
    wakeUps.wait()
  }

  /// The last of several.
  package static func last(of arrivals: [TileArrival]) -> TileArrival? {
    guard arrivals.count > 1 else { return arrivals.first }
    // One behind the other: each counts the same whether it came before it was asked for or after.
    return TileArrival { body in Self.observe(arrivals[...], body) }
  }

  private static func observe(_ arrivals: ArraySlice<TileArrival>, _ body: @escaping @Sendable () -> Void) {
    guard let first = arrivals.first else { return body() }
    first.observe { observe(arrivals.dropFirst(), body) }
  }
}
