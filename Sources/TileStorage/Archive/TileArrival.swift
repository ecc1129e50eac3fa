import ZigguratThreads

/// A tile that is on its way to where it can be read.
///
/// Who waits is told once, whether it came or not, and asks the archive again.
package struct TileArrival: Sendable {
  /// Who waits for it.
  package struct Observer: Sendable {
    /// Whether `tell` wakes somebody and does nothing else: then the storage's own thread calls it, which must neither
    /// be held up nor wait for the storage.
    package let isQuick: Bool
    package let tell: @Sendable () -> Void
  }

  private let observe: @Sendable (Observer) -> Void

  /// - Parameter observe: has its argument told once, at once where the tile is there meanwhile; within the time
  ///   that the storage may take to answer.
  package init(_ observe: @escaping @Sendable (Observer) -> Void) { self.observe = observe }

  /// Calls `body` once, on any thread, maybe before this returns.
  /// - Parameter isQuick: whether `body` wakes somebody and does nothing else.
  package func whenHere(isQuick: Bool = false, _ body: @escaping @Sendable () -> Void) {
    observe(Observer(isQuick: isQuick, tell: body))
  }

  /// Has an observer of another arrival told of this one.
  func whenHere(_ observer: Observer) { observe(observer) }

  /// Returns when the archive can be asked again; not for threads that others wait for.
  package func wait() {
    let wakeUps = WakeUps()
    whenHere(isQuick: true) { wakeUps.signal() }
    wakeUps.wait()
  }

  /// The last of several.
  package static func last(of arrivals: [TileArrival]) -> TileArrival? {
    guard arrivals.count > 1 else { return arrivals.first }
    // One behind the other: each counts the same whether it came before it was asked for or after.
    return TileArrival { Self.observe(arrivals[...], $0) }
  }

  private static func observe(_ arrivals: ArraySlice<TileArrival>, _ observer: Observer) {
    guard let first = arrivals.first else { return observer.tell() }
    first.whenHere { observe(arrivals.dropFirst(), observer) }
  }
}
