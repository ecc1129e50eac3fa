import Glibc
import Synchronization
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratThreads
import ZigguratTileServing

/// Cuts connections whose request is not whole in time, or whose answer is not taken in time.
/// libmicrohttpd's own timeout counts only idleness, so a client that sends or takes a byte now and then
/// would hold its connection for ever.
final class ConnectionDeadlines: Sendable {
  /// One connection: its socket, and until when its next request must be whole or its answer sent.
  // Sendable: what is not atomic is touched by the connection's own event loop alone.
  final class Connection: @unchecked Sendable {
    /// Lives longer than any connection.
    let context: Unmanaged<ServerContext>
    let socket: Int32
    /// The address of the other end; nil if it has none.
    let peer: IPAddress?
    /// Whether it is a trusted proxy's: its requests have origins of their own.
    let isProxy: Bool
    /// Whether it came in where monitors ask.
    let isMonitor: Bool
    /// The request's body comes in chunks: it is the last of its connection.
    var isChunked = false
    /// Whether it was suspended and its handler not called since: see `Suspension`.
    var hasOwnTimeout = false
    /// The number of the request's headers.
    var headerCount = 0
    /// A Host that its requests may have, as sent: most have the one before them.
    var host: [UInt8] = []
    /// The address of the client that a proxy forwards a request for.
    var origin: IPAddress?
    /// The client that a proxy's request counts for.
    var client: ClientAddress?
    /// Milliseconds of the monotonic clock.
    let deadline: Atomic<UInt64>
    /// Whether it waits for the headers of a request.
    let isIdle = Atomic<Bool>(true)
    /// The byte of the request's query that is hidden from the daemon.
    var hidden: CChar?
    /// The request's target as `Callbacks.seeURI` was given it, until the request ends.
    var target: UnsafePointer<CChar>?
    /// The value of the request's first Cookie header, until the request ends.
    var cookie: UnsafePointer<CChar>?
    /// The authority that the request is sent to, ended by a NUL, if that is not its Host.
    private(set) var authority: ContiguousArray<CChar> = []
    /// Whether the request is one of HTTP/1.0, whose clients know no interim responses.
    private(set) var isHTTP10 = false
    /// Whether the handler has seen the request's headers, and the request has not ended.
    private(set) var isInRequest = false
    /// Whether the client may still be sending when the connection ends: what it sends is read for a while.
    var lingers = false
    /// The route of its request's path.
    private(set) var route = Route.page
    private var status = 0
    private var bytes = 0
    private var start = 0
    /// The log entry of the answer that is being sent; nil without a log.
    var logged: AccessLog.Entry?

    init(
      _ context: ServerContext, socket: Int32, peer: IPAddress?, isProxy: Bool, isMonitor: Bool,
      deadline: UInt64
    ) {
      self.context = .passUnretained(context)
      self.socket = socket
      self.peer = peer
      self.isProxy = isProxy
      self.isMonitor = isMonitor
      self.deadline = Atomic(deadline)
    }

    /// A request's headers are there.
    func begin(_ route: Route) {
      self.route = route
      status = 0
      bytes = 0
      start = Self.microseconds()
      isInRequest = true
      isIdle.store(false, ordering: .relaxed)
    }

    /// Learns which server the request is sent to.
    /// - Parameters:
    ///   - host: the request's Host.
    ///   - absolute: the authority of a target in absolute form.
    func learn(
      isHTTP10: Bool, host: UnsafeBufferPointer<UInt8>, absolute: UnsafeBufferPointer<UInt8>?
    ) {
      self.isHTTP10 = isHTTP10
      if !authority.isEmpty { authority = [] }
      if let absolute {
        authority = ContiguousArray(absolute.map { CChar(bitPattern: $0) } + [0])
      } else if host.isEmpty, let place = ListeningSocket.authority(socket) {
        authority = ContiguousArray(place.utf8CString)
      }
    }

    /// The answer that is being sent.
    func answer(_ status: Int, _ bytes: Int) { (self.status, self.bytes) = (status, bytes) }

    /// The answer is sent, or the connection broke meanwhile.
    func count(in metrics: Metrics, _ log: AccessLog?) {
      isInRequest = false
      isIdle.store(true, ordering: .relaxed)
      guard status > 0 else { return }
      let microseconds = Self.microseconds() - start
      metrics.add(route, status: status, bytes: bytes, microseconds: microseconds)
      status = 0
      guard let log, let entry = logged else { return }
      log.add(entry, microseconds: microseconds)
      logged = nil
    }

    private static func microseconds() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
  }

  private let connections = Mutex<[ObjectIdentifier: Connection]>([:])
  private let milliseconds: UInt64
  private let answerMilliseconds: UInt64
  private let isStopping = Atomic<Bool>(false)

  /// - Parameters: seconds.
  init(request: Int, answer: Int) {
    milliseconds = UInt64(request) * 1000
    answerMilliseconds = UInt64(answer) * 1000
  }

  func start() {
    _ = StartedThread.detached { [self] in
      while !isStopping.load(ordering: .relaxed) {
        usleep(500_000)
        sweep()
      }
    }
  }

  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// A connection began. The result is retained once, for `end`.
  func begin(
    _ context: ServerContext, socket: Int32, peer: IPAddress?, isProxy: Bool, isMonitor: Bool
  ) -> Unmanaged<Connection> {
    let connection = Connection(
      context, socket: socket, peer: peer, isProxy: isProxy, isMonitor: isMonitor,
      deadline: Self.now() + milliseconds)
    connections.withLock { $0[ObjectIdentifier(connection)] = connection }
    return Unmanaged.passRetained(connection)
  }

  /// A connection ends; its socket is still open, so no other has its number yet.
  func end(_ connection: Unmanaged<Connection>) {
    let connection = connection.takeRetainedValue()
    connections.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// The request is whole: its answer has its own time.
  func requestIsWhole(_ connection: Unmanaged<Connection>) {
    connection._withUnsafeGuaranteedRef {
      $0.deadline.store(Self.now() + answerMilliseconds, ordering: .relaxed)
    }
  }

  /// A long body goes on: the rest of it has the time of a request again.
  func bodyProgresses(_ connection: Unmanaged<Connection>) { answerIsSent(connection) }

  /// The answer is sent: the next request has its own time.
  func answerIsSent(_ connection: Unmanaged<Connection>) {
    connection._withUnsafeGuaranteedRef { $0.deadline.store(Self.now() + milliseconds, ordering: .relaxed) }
  }

  /// Cuts the half of the idle connections that were idle longest, and returns how many those are.
  func cutIdle() -> Int {
    connections.withLock { connections in
      let idle = connections.values.filter { $0.isIdle.load(ordering: .relaxed) }
        .sorted { $0.deadline.load(ordering: .relaxed) < $1.deadline.load(ordering: .relaxed) }
      let cut = idle.prefix((idle.count + 1) / 2)
      for connection in cut { shutdown(connection.socket, Int32(SHUT_RDWR)) }
      return cut.count
    }
  }

  private func sweep() {
    let now = Self.now()
    connections.withLock { connections in
      for connection in connections.values where connection.deadline.load(ordering: .relaxed) < now {
        // The daemon sees the end of the stream and closes.
        shutdown(connection.socket, Int32(SHUT_RDWR))
      }
    }
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
