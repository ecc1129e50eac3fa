import ZigguratConcurrency

/// The parts of one source, as its pages, which several threads build, each part once. They are reported in their
/// order.
final class PartQueue: @unchecked Sendable {
  // Sendable: every property that changes is touched under `monitor` only; `build` is called from several threads, as
  // its owner knows.
  private let monitor = ConditionLock()
  private let count: Int
  private let build: (Int, any PictureBuilder) throws(BuildError) -> () -> Void
  private var next = 0
  /// Reports of parts before which others are at work.
  private var reports: [Int: () -> Void] = [:]
  private var nextReport = 0
  private var isReporting = false
  private var atWork = 0
  private var failure: BuildError?

  /// - Parameter build: builds the part of a number, counted from 0, and returns a function that reports it. An error
  ///   ends the work on other parts.
  init(count: Int, _ build: @escaping (Int, any PictureBuilder) throws(BuildError) -> () -> Void) {
    self.count = count
    self.build = build
  }

  /// Whether a thread more would find a part to build.
  var hasMore: Bool { monitor.withLock { next < count && failure == nil } }

  /// Builds parts until none is left that no other thread has begun.
  func help(_ pictures: any PictureBuilder) {
    while let part = take() {
      var failed: BuildError?
      var report: (() -> Void)?
      do throws(BuildError) { report = try build(part, pictures) } catch { failed = error }
      monitor.withLock {
        if failure == nil { failure = failed }
        reports[part] = report
        reportWhatIsNext()
        atWork -= 1
        monitor.wakeAll()
      }
    }
  }

  /// Helps, and returns when all parts are built.
  func finish(_ pictures: any PictureBuilder) throws(BuildError) {
    help(pictures)
    monitor.lock()
    while atWork > 0 { monitor.wait() }
    let (failure, left) = (failure, reports)
    monitor.unlock()
    // Those behind a part that failed.
    for (_, report) in left.sorted(by: { $0.key < $1.key }) { report() }
    if let failure { throw failure }
  }

  /// Must be called with the lock. The lock is released for each report, which may take other locks.
  private func reportWhatIsNext() {
    guard !isReporting else { return }
    isReporting = true
    while let report = reports.removeValue(forKey: nextReport) {
      nextReport += 1
      monitor.unlock()
      report()
      monitor.lock()
    }
    isReporting = false
  }

  private func take() -> Int? {
    monitor.lock()
    defer { monitor.unlock() }
    guard next < count, failure == nil else { return nil }
    next += 1
    atWork += 1
    return next - 1
  }
}
