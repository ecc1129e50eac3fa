import Glibc
import Synchronization
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTileServing

/// Reads the body of a request that may change something, and has it answered.
///
/// The connection is suspended while a worker writes received bytes or makes the answer, so that no event loop ever
/// waits for a disk.
// Sendable: the event loop touches it only while no worker does; resuming the connection is the last thing
// that a worker does.
final class RequestBodyReader: @unchecked Sendable {
  /// The maximum of bytes that are discarded so that a client that sends too much can read the refusal. Beyond it the
  /// connection is cut.
  private static let maxDiscarded = 16 << 20

  private enum Sink {
    case memory(limit: Int, answer: @Sendable (Request) -> Reply)
    case receiver(any BodyReceiver)
  }

  private enum Stage {
    case receiving
    case draining
    /// The body is refused or complete; so many bytes after that were discarded.
    case discarding(Int)
    case answering
    case answered(Reply)
  }

  private let connection: HTTPConnection
  private let queue: ThreadPool
  private let sink: Sink
  private(set) var request: RoutedRequest
  private let stage = Mutex(Stage.receiving)
  private var isTooLarge = false
  /// Bytes since the client was last given time.
  private var progress = 0

  /// Returns `nil` if the plan is to refuse.
  init?(
    _ plan: RequestBodyPolicy, _ request: RoutedRequest, _ connection: HTTPConnection, _ queue: ThreadPool
  ) {
    switch plan {
    case .refuse: return nil
    case .collect(let limit, _, let answer): sink = .memory(limit: limit, answer: answer)
    case .stream(let receiver): sink = .receiver(receiver)
    }
    self.request = request
    self.connection = connection
    self.queue = queue
  }

  deinit {
    switch stage.withLock({ $0 }) {
    case .answering, .answered: return
    case .receiving, .draining, .discarding: abandon()
    }
  }

  /// Has the receiver give up on a worker, or here if the queue has stopped.
  private func abandon() {
    guard case .receiver(let receiver) = sink else { return }
    if !queue.submit(always: true, { receiver.abandon() }) { receiver.abandon() }
  }

  /// The next step of the connection's handler.
  enum Step {
    /// The bytes were taken; `gainsTime` if the client has sent enough to be given more time.
    case taken(gainsTime: Bool)
    /// A worker is busy; libmicrohttpd calls the handler again.
    case later
    /// The client has sent too much after its body was refused; the connection is cut.
    case cut
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Step {
    switch stage.withLock({ $0 }) {
    case .draining, .answering, .answered: return .later
    case .discarding(let count):
      stage.withLock { $0 = .discarding(count + bytes.count) }
      return count + bytes.count > Self.maxDiscarded ? .cut : .taken(gainsTime: false)
    case .receiving: break
    }
    switch sink {
    case .memory(let limit, _):
      guard request.request.body.count + bytes.count <= limit else {
        isTooLarge = true
        request.request.body = []
        stage.withLock { $0 = .discarding(bytes.count) }
        return .taken(gainsTime: false)
      }
      request.request.body.append(contentsOf: bytes)
      return .taken(gainsTime: false)
    case .receiver(let receiver):
      progress += bytes.count
      switch receiver.receive(bytes) {
      case .more: break
      case .stop: stage.withLock { $0 = .discarding(0) }
      case .drain:
        stage.withLock { $0 = .draining }
        suspend { [self] in
          receiver.drain()
          stage.withLock { $0 = .receiving }
        }
      }
      guard progress >= Self.leastProgress else { return .taken(gainsTime: false) }
      progress = 0
      return .taken(gainsTime: true)
    }
  }

  /// A client that sends less than this within the time for a request is cut.
  private static let leastProgress = 65536

  /// Returns the answer; `nil` while a worker makes it, for which the connection was suspended.
  func answer() -> Reply? {
    switch stage.withLock({ $0 }) {
    case .answered(let answer): return answer
    case .answering, .draining: return nil
    case .receiving, .discarding: break
    }
    if isTooLarge, case .memory(let limit, _) = sink { return .response(.tooLarge(limit)) }
    stage.withLock { $0 = .answering }
    suspend { [self] in
      let answer: Reply =
        switch sink {
        case .memory(_, let answer): answer(request.request)
        case .receiver(let receiver): .response(receiver.answer(request.request))
        }
      stage.withLock { $0 = .answered(answer) }
    }
    return nil
  }

  private func suspend(_ work: @escaping @Sendable () -> Void) {
    // Before the work is given away: it may be done at once.
    connection.suspend()
    // A body that is half written is no new work.
    let isDraining = if case .draining = stage.withLock({ $0 }) { true } else { false }
    let isTaken = queue.submit(always: isDraining) { [self] in
      work()
      connection.resume()
    }
    guard !isTaken else { return }
    // Too much at once, or the server ends.
    if isDraining { work() } else { refuse() }
    connection.resume()
  }

  private func refuse() {
    abandon()
    stage.withLock { $0 = .answered(.response(.tooBusy)) }
  }
}
