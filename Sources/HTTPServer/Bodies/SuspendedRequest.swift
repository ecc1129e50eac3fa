import Glibc
import Synchronization
import TileStorage
import ZigguratHTTPMessages
import ZigguratThreads

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
    var isResumed = false
    var response: Response?
    var client = Client.there
    /// Makes the response.
    var task: Task<Void, Never>?
  }

  private let connection: Connection
  private let socket: Int32
  private let isHTTP10: Bool
  private let state = Mutex(State())
  /// The number of times that the request was handled before.
  private let rounds: Int

  /// - Parameter former: for what the connection was suspended when the same request was handled before.
  init(_ connection: Connection, after former: SuspendedRequest?) {
    self.connection = connection
    socket = connection.socket
    isHTTP10 = connection.request.isHTTP10
    rounds = former.map { $0.rounds + 1 } ?? 0
  }

  /// The response, once the connection was resumed; `nil` if the request is to be handled again.
  var response: Response? { state.withLock { $0.response } }

  /// Suspends the connection until a task has made the response.
  func wait(for pending: PendingResponse) {
    suspend()
    let task = Task(executorPreference: connection.server.taskThreads) { [self] in
      resume(await pending.make())
    }
    state.withLock { state in
      if !state.isResumed { state.task = task }
    }
  }

  /// Suspends the connection until the request is to be handled again.
  func wait(for tile: any Pending) {
    suspend()
    tile.whenLanded { [self] in resume(nil) }
  }

  /// Whether the request may be handled again; false after it was several times.
  var mayBeHandledAgain: Bool { rounds < TileArchive.patience }

  private func suspend() {
    // Before what it waits for begins: that may be done at once.
    connection.suspend()
    connection.server.suspended.add(self)
  }

  private func resume(_ response: Response?) {
    connection.server.suspended.remove(self)
    state.withLock { state in
      state.isResumed = true
      state.response = response
      state.task = nil
    }
    connection.resume()
  }

  /// Cancels the task if the client is gone.
  func cancelIfAbandoned() {
    let task = state.withLock { state in isClientThere(&state) ? nil : state.task }
    task?.cancel()
  }

  /// Cancels the task.
  func cancel() { state.withLock { $0.task }?.cancel() }

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
  private let table = Mutex<[ObjectIdentifier: SuspendedRequest]>([:])
  /// Microseconds between looks at the clients while requests are suspended.
  private static let pause: UInt32 = 100_000
  private let wakeUps = WakeUps()
  private let isStopping = Atomic<Bool>(false)

  func start() {
    _ = StartedThread.detached { [self] in
      while !isStopping.load(ordering: .relaxed) {
        if table.withLock({ $0.isEmpty }) { wakeUps.wait(upTo: nil, takesAll: true) }
        usleep(Self.pause)
        for request in table.withLock({ Array($0.values) }) { request.cancelIfAbandoned() }
      }
    }
  }

  func add(_ request: SuspendedRequest) {
    let isFirst = table.withLock { table in
      table[ObjectIdentifier(request)] = request
      return table.count == 1
    }
    if isFirst { wakeUps.signal() }
  }

  func remove(_ request: SuspendedRequest) {
    table.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(request)) }
  }

  /// Cancels all tasks, and returns when no request is suspended.
  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wakeUps.signal()
    while true {
      let requests = table.withLock { Array($0.values) }
      if requests.isEmpty { return }
      for request in requests { request.cancel() }
      usleep(5000)
    }
  }
}
