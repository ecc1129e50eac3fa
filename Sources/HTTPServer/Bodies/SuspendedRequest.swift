import Glibc
import Synchronization
import TileStorage
// Declares MSG_DONTWAIT: it includes the header that glibc's module has in part.
import ZigguratCMicroHTTPD
import ZigguratConcurrency
import ZigguratHTTPMessages

/// A request whose connection is suspended until its response is there, or until it is to be handled again.
// Sendable: the connection is touched by another thread only while it is suspended, and resuming it is
// the last thing that thread does.
final class SuspendedRequest: @unchecked Sendable {
  /// The known state of the client.
  private enum Client {
    case there
    /// Its end of the connection is closed. It was sent an interim response.
    case asked
    case gone
  }

  private struct State {
    var isSuspended = false
    var isResumed = false
    var response: Response?
    var client = Client.there
    /// Makes the response.
    var task: Task<Void, Never>?
  }

  private let connection: HTTPConnection
  private let socket: Int32
  private let isHTTP10: Bool
  private let state = Mutex(State())
  /// The number of times that the request was handled before.
  private let rounds: Int

  /// - Parameter former: the earlier suspension of the same request; nil for the first one.
  init(_ connection: HTTPConnection, after former: SuspendedRequest?) {
    self.connection = connection
    socket = connection.socket
    isHTTP10 = connection.request.isHTTP10
    rounds = former.map { $0.rounds + 1 } ?? 0
  }

  /// The response, once the connection was resumed; `nil` if the request is to be handled again.
  var response: Response? { state.withLock { $0.response } }

  /// Suspends the connection until a task has made the response.
  /// - Returns: false if the server stops; nothing is suspended then.
  func wait(for pending: PendingResponse) -> Bool {
    guard suspend() else { return false }
    let task = Task(executorPreference: connection.server.taskThreads) { [self] in
      resume(await pending.response())
    }
    state.withLock { state in
      if !state.isResumed { state.task = task }
    }
    return true
  }

  /// Suspends the connection until the request is to be handled again.
  /// - Returns: false if the server stops; nothing is suspended then.
  func wait(for tile: any Pending) -> Bool {
    guard suspend() else { return false }
    tile.whenComplete { [self] in resume(nil) }
    return true
  }

  /// Whether the request may be handled again; false after it was several times.
  var mayBeHandledAgain: Bool { rounds < TileArchive.maxAttempts }

  private func suspend() -> Bool {
    guard connection.server.suspended.add(self) else { return false }
    // Before the awaited task starts, which may end immediately.
    connection.suspend()
    state.withLock { $0.isSuspended = true }
    return true
  }

  /// Resumes the connection, the first time that it is called.
  private func resume(_ response: Response?) {
    let isFirst = state.withLock { state in
      guard !state.isResumed else { return false }
      state.isResumed = true
      state.response = response
      state.task = nil
      return true
    }
    guard isFirst else { return }
    let suspended = connection.server.suspended
    connection.resume()
    // Behind it: the server ends when none is left.
    suspended.remove(self)
  }

  /// Cancels the task if the client is gone.
  func cancelIfAbandoned() {
    let task = state.withLock { state in isClientThere(&state) ? nil : state.task }
    task?.cancel()
  }

  /// Cancels the awaited task. Does nothing if the connection is not suspended yet.
  func cancel() {
    let (isSuspended, task) = state.withLock { ($0.isSuspended, $0.task) }
    // A connection that is resumed first would then be suspended for good.
    guard isSuspended else { return }
    if let task { task.cancel() } else { resume(.tooBusy) }
  }

  /// False once the client is gone. After the connection was resumed the socket may be another one's, so it is looked
  /// at only before.
  ///
  /// A client that closed its end may still read (RFC 9112, section 9.6), and a client that is gone has closed its end,
  /// too. The system of the latter resets the connection as soon as anything is sent to it, so an interim response is
  /// sent, which the former passes over (RFC 9110, section 15.2).
  private func isClientThere(_ state: inout State) -> Bool {
    guard !state.isResumed else { return true }
    guard state.client != .gone else { return false }
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    if count < 0, errno != EAGAIN, errno != EINTR { state.client = .gone }
    guard count == 0 else { return state.client != .gone }
    switch state.client {
    case .there where !isHTTP10:
      let interim: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
      let sent = send(
        socket, interim.utf8Start, interim.utf8CodeUnitCount, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      // Sent in part, it would spoil the answer.
      state.client = sent == interim.utf8CodeUnitCount ? .asked : .gone
    case .asked:
      var wait = pollfd(fd: socket, events: 0, revents: 0)
      if poll(&wait, 1, 0) > 0, wait.revents & Int16(POLLERR | POLLHUP) != 0 { state.client = .gone }
    case .there, .gone: break
    }
    return state.client != .gone
  }
}

/// The suspended requests of a server. The tasks of those whose clients are gone are cancelled.
final class SuspendedRequests: Sendable {
  private struct State {
    var requests: [ObjectIdentifier: SuspendedRequest] = [:]
    var isStopping = false
  }

  private let state = Mutex(State())
  /// Microseconds between looks at the clients while requests are suspended.
  private static let pause: UInt32 = 100_000
  private let wakeUps = CountingSemaphore()

  func start() {
    StartedThread.needed { [self] in
      while !state.withLock({ $0.isStopping }) {
        if state.withLock({ $0.requests.isEmpty }) { wakeUps.wait(upTo: nil, takesAll: true) }
        usleep(Self.pause)
        for request in requests { request.cancelIfAbandoned() }
      }
    }
  }

  private var requests: [SuspendedRequest] { state.withLock { Array($0.requests.values) } }

  /// - Returns: false if the server stops.
  func add(_ request: SuspendedRequest) -> Bool {
    let (isAdded, isFirst) = state.withLock { state in
      guard !state.isStopping else { return (false, false) }
      state.requests[ObjectIdentifier(request)] = request
      return (true, state.requests.count == 1)
    }
    if isFirst { wakeUps.signal() }
    return isAdded
  }

  func remove(_ request: SuspendedRequest) {
    state.withLock { _ = $0.requests.removeValue(forKey: ObjectIdentifier(request)) }
  }

  /// Cancels the awaited tasks of all requests, and returns when no request is suspended. From then on, none can be.
  func stop() {
    state.withLock { $0.isStopping = true }
    wakeUps.signal()
    while true {
      let requests = requests
      if requests.isEmpty { return }
      for request in requests { request.cancel() }
      usleep(5000)
    }
  }
}
