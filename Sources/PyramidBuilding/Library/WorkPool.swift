import ZigguratConcurrency

/// A picture that is being built, which idle threads can help with.
protocol PictureInWork: AnyObject, Sendable {
  /// The fraction of it that is done, 0 to 1.
  var progress: Double { get }
  /// The number of pixels of full resolution.
  var pixelCount: Double { get }
  /// Helps with the remaining work, on the caller's thread or in its place; returns when there is none.
  func assist()
}

extension StripScheduler: PictureInWork {}

/// The pictures in work in one library build. It tracks the memory that they take, and finds work for idle threads.
final class WorkPool: BuildHost, @unchecked Sendable {
  // Sendable: every property is touched under `monitor` only.
  private let monitor = ConditionLock()
  private var pictures: [any PictureInWork] = []
  private var names: [ObjectIdentifier: String] = [:]
  private var memoryInUse = 0
  /// Bytes for all pictures in work together.
  let memoryLimit: Int
  /// The numbers of requests for memory that have arrived and that were served. They are served in their order, so
  /// that a large picture does not wait for any number of small ones.
  private var (arrivals, served) = (0, 0)
  /// The parts of sources of several, which idle threads build, too.
  private var queues: [PartQueue] = []
  /// Pictures that are not done; those among them that are just being opened are not in work yet.
  private var unfinished = 0

  init(memoryLimit: Int) { self.memoryLimit = memoryLimit }

  /// So many pictures more come.
  func expect(pictures: Int) { monitor.withLock { unfinished += pictures } }

  /// Refuses a picture that alone takes more than the limit.
  func check(_ plan: BuildPlan, _ source: String) throws(BuildError) {
    guard plan.memory <= memoryLimit else {
      throw BuildError(
        source,
        "takes about \(plan.memory >> 20) MB, more than --memory-limit allows, which is \(memoryLimit >> 20) MB"
      )
    }
  }

  /// Waits for memory and counts it in until it is released.
  ///
  /// - Parameter memory: no more than the limit.
  func reserve(_ memory: Int) { monitor.withLock { take(memory) } }

  func release(_ memory: Int) {
    monitor.withLock {
      memoryInUse -= memory
      monitor.wakeAll()
    }
  }

  private func take(_ memory: Int) {
    let number = arrivals
    arrivals += 1
    while number != served || memoryInUse + memory > memoryLimit { monitor.wait() }
    served += 1
    memoryInUse += memory
    monitor.wakeAll()
  }

  /// Waits until there is memory for a picture, then counts it in.
  ///
  /// - Parameter memory: no more than the limit, see `check`; 0 where it was reserved.
  func begin(_ picture: any PictureInWork, memory: Int, _ source: String) {
    monitor.withLock {
      if memory > 0 { take(memory) }
      pictures.append(picture)
      names[ObjectIdentifier(picture)] = source
      monitor.wakeAll()
    }
  }

  func end(_ picture: any PictureInWork, memory: Int) {
    monitor.withLock {
      // A picture that was refused was never counted in.
      if pictures.contains(where: { $0 === picture }) {
        pictures.removeAll { $0 === picture }
        names[ObjectIdentifier(picture)] = nil
        memoryInUse -= memory
      }
      monitor.wakeAll()
    }
  }

  var progress: [PictureProgress] {
    monitor.lock()
    let named = pictures.map { ($0, names[ObjectIdentifier($0)] ?? "") }
    monitor.unlock()
    return named.map { picture, source in
      let done = picture.progress
      return PictureProgress(source: source, done: done, pixels: done * picture.pixelCount)
    }
  }

  /// One picture less, done or failed.
  func finishPicture() {
    monitor.withLock {
      unfinished -= 1
      monitor.wakeAll()
    }
  }

  /// Has all parts of a source built: by the caller and by threads without a picture of their own.
  func finish(_ queue: PartQueue, _ pictures: any PictureBuilder) throws(BuildError) {
    monitor.withLock {
      queues.append(queue)
      monitor.wakeAll()
    }
    defer { monitor.withLock { queues.removeAll { $0 === queue } } }
    try queue.finish(pictures)
  }

  /// Helps other threads until no picture is left.
  ///
  /// - Parameter builder: builds the parts that are not begun.
  func assist(with builder: any PictureBuilder) {
    monitor.lock()
    while unfinished > 0 {
      if let queue = queues.first(where: \.hasMore) {
        monitor.unlock()
        queue.help(builder)
        monitor.lock()
        continue
      }
      guard let picture = pictures.first else {
        monitor.wait()
        continue
      }
      monitor.unlock()
      picture.assist()
      monitor.lock()
      // It has no work left that this thread could do; its own threads are ending it.
      if pictures.first === picture { monitor.wait() }
    }
    monitor.unlock()
  }
}

/// A picture in work.
package struct PictureProgress: Sendable {
  package let source: String
  /// 0 to 1.
  package let done: Double
  /// The pixels of full resolution that are done.
  package let pixels: Double
}
