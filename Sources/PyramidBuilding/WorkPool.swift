/// The pictures in work in one library build: what they take of the memory allowed, and where a thread
/// without a picture of its own can help.
final class WorkPool: @unchecked Sendable {
  // Sendable: every property is touched under `monitor` only.
  private let monitor = Monitor()
  private var schedulers: [StripScheduler] = []
  private var names: [ObjectIdentifier: String] = [:]
  private var memoryInUse = 0
  private let memoryLimit: Int
  /// Pictures that are not done; those among them that are just being opened have no scheduler yet.
  private var unfinished: Int

  init(pictures: Int, memoryLimit: Int) { (unfinished, self.memoryLimit) = (pictures, memoryLimit) }

  /// Refuses a picture that alone takes more than the limit.
  func check(memory: Int, _ source: String) throws(BuildError) {
    guard memory <= memoryLimit else {
      throw BuildError(
        source,
        "takes about \(memory >> 20) MB, more than --memory-limit allows, which is \(memoryLimit >> 20) MB")
    }
  }

  /// Waits until there is memory for a picture, then counts it in.
  ///
  /// - Parameter memory: no more than the limit, see `check`.
  func begin(_ scheduler: StripScheduler, memory: Int, _ source: String) {
    monitor.lock()
    while memoryInUse + memory > memoryLimit { monitor.wait() }
    memoryInUse += memory
    schedulers.append(scheduler)
    names[ObjectIdentifier(scheduler)] = source
    monitor.wakeAll()
    monitor.unlock()
  }

  func end(_ scheduler: StripScheduler, memory: Int) {
    monitor.lock()
    // A picture that was refused was never counted in.
    if schedulers.contains(where: { $0 === scheduler }) {
      schedulers.removeAll { $0 === scheduler }
      names[ObjectIdentifier(scheduler)] = nil
      memoryInUse -= memory
    }
    monitor.wakeAll()
    monitor.unlock()
  }

  var progress: [PictureProgress] {
    monitor.lock()
    let pictures = schedulers.map { ($0, names[ObjectIdentifier($0)] ?? "") }
    monitor.unlock()
    return pictures.map { scheduler, source in
      let done = scheduler.progress
      return PictureProgress(source: source, done: done, pixels: done * scheduler.pixelCount)
    }
  }

  /// One picture less, done or failed.
  func finishPicture() {
    monitor.lock()
    unfinished -= 1
    monitor.wakeAll()
    monitor.unlock()
  }

  /// Helps whoever is still at work, until no picture is left.
  func assist() {
    monitor.lock()
    while unfinished > 0 {
      guard let scheduler = schedulers.first else {
        monitor.wait()
        continue
      }
      monitor.unlock()
      scheduler.assist()
      monitor.lock()
      // It has no work left that this thread could do; its own threads are ending it.
      if schedulers.first === scheduler { monitor.wait() }
    }
    monitor.unlock()
  }
}

/// A picture in work.
public struct PictureProgress: Sendable {
  public let source: String
  /// 0 to 1.
  public let done: Double
  /// Of full resolution.
  public let pixels: Double
}
