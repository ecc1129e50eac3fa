import CMicroHTTPD
import Glibc
import Synchronization

/// Cuts connections whose request is not whole in time. libmicrohttpd's own timeout counts only
/// idleness, so a client that sends a byte now and then would hold its connection for ever.
final class ConnectionDeadlines: Sendable {
  /// One connection: its socket, and until when its next request must be whole.
  final class Connection: Sendable {
    let socket: Int32
    /// Milliseconds of the monotonic clock; the farthest future while a request is being answered.
    let deadline: Atomic<UInt64>

    init(socket: Int32, deadline: UInt64) {
      self.socket = socket
      self.deadline = Atomic(deadline)
    }
  }

  private let connections = Mutex<[ObjectIdentifier: Connection]>([:])
  private let milliseconds: UInt64
  private let isStopping = Atomic<Bool>(false)

  init(seconds: Int) { milliseconds = UInt64(seconds) * 1000 }

  func start() {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(self)
    let code = pthread_create(
      &thread, nil,
      { argument in
        let deadlines = Unmanaged<ConnectionDeadlines>.fromOpaque(argument!).takeRetainedValue()
        while !deadlines.isStopping.load(ordering: .relaxed) {
          usleep(500_000)
          deadlines.sweep()
        }
        return nil
      }, argument.toOpaque())
    if code == 0 { pthread_detach(thread) } else { argument.release() }
  }

  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// A connection began. The result is retained once, for `end`.
  func begin(socket: Int32) -> Unmanaged<Connection> {
    let connection = Connection(socket: socket, deadline: Self.now() + milliseconds)
    connections.withLock { $0[ObjectIdentifier(connection)] = connection }
    return Unmanaged.passRetained(connection)
  }

  /// A connection ends; its socket is still open, so no other has its number yet.
  func end(_ connection: Unmanaged<Connection>) {
    let connection = connection.takeRetainedValue()
    connections.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// The request is whole: its answer takes the time it takes.
  func requestIsWhole(_ connection: Unmanaged<Connection>) {
    connection._withUnsafeGuaranteedRef { $0.deadline.store(.max, ordering: .relaxed) }
  }

  /// The answer is sent: the next request has its own time.
  func answerIsSent(_ connection: Unmanaged<Connection>) {
    connection._withUnsafeGuaranteedRef { $0.deadline.store(Self.now() + milliseconds, ordering: .relaxed) }
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
