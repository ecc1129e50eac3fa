import ZigguratConcurrency
import ZigguratFiles

/// Copies of sources that lie elsewhere, made while those before them are built: there is never more than one ahead for
/// each thread that builds.
final class SourceCopies: @unchecked Sendable {
  // Sendable: every property that changes is touched under `monitor` only.
  typealias Made = Result<SourceCopy, BuildError>

  private enum State {
    case coming
    case ready(Made)
  }

  private let monitor = ConditionLock()
  private let sources: [SourceScan.Source]
  private let ahead: Int
  private let make: @Sendable (SourceScan.Source) -> Made
  private var next = 0
  /// The ids of sources that are copied, or were.
  private var begun: Set<ImageID> = []
  /// The states of copies that have not been taken.
  private var states: [ImageID: State] = [:]
  private var isEnded = false

  /// - Parameters:
  ///   - sources: in the order in which they are taken.
  ///   - ahead: how many are copied before they are asked for.
  init(
    _ sources: [SourceScan.Source], ahead: Int, _ make: @escaping @Sendable (SourceScan.Source) -> Made
  ) {
    self.sources = sources
    self.ahead = ahead
    self.make = make
    for _ in 0..<min(ahead, sources.count) {
      // A thread that takes an unstarted copy makes it itself.
      _ = StartedThread.detached { [self] in copy() }
    }
  }

  private func copy() {
    monitor.lock()
    defer { monitor.unlock() }
    while !isEnded {
      while next < sources.count, begun.contains(sources[next].id) { next += 1 }
      guard next < sources.count else { return }
      guard states.count < ahead else {
        monitor.wait()
        continue
      }
      let source = sources[next]
      begun.insert(source.id)
      states[source.id] = .coming
      monitor.unlock()
      let made = make(source)
      monitor.lock()
      states[source.id] = isEnded ? nil : .ready(made)
      monitor.wakeAll()
    }
  }

  /// The copy of one of the sources, which is the caller's.
  func take(_ source: SourceScan.Source) -> Made {
    monitor.lock()
    if begun.insert(source.id).inserted {
      monitor.unlock()
      return make(source)
    }
    while case .coming? = states[source.id] { monitor.wait() }
    let state = states.removeValue(forKey: source.id)
    monitor.wakeAll()
    monitor.unlock()
    if case .ready(let made)? = state { return made }
    return make(source)
  }

  /// No more are copied.
  func end() {
    monitor.withLock {
      isEnded = true
      states = [:]
      monitor.wakeAll()
    }
  }
}
