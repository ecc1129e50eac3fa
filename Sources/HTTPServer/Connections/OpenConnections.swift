import Glibc
import Synchronization
import ZigguratConcurrency

/// All open connections of a server, with their idle timeouts and deadlines.
///
/// The timeout of libmicrohttpd counts only idle time. A slow client that sends or receives a byte now and then
/// (slowloris) would keep its connection forever, so a connection is closed after its deadline.
final class OpenConnections: Sendable {
  let table = Mutex<[ObjectIdentifier: HTTPConnection]>([:])
  private let isStopping = Atomic<Bool>(false)

  func start() {
    StartedThread.needed { [self] in
      while !isStopping.load(ordering: .relaxed) {
        usleep(500_000)
        closeExpired()
      }
    }
  }

  func stop() { isStopping.store(true, ordering: .relaxed) }

  func add(_ connection: HTTPConnection) {
    table.withLock { $0[ObjectIdentifier(connection)] = connection }
  }

  /// Removes a connection, before its socket is closed.
  func remove(_ connection: HTTPConnection) {
    table.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  /// Cuts half of the idle connections, the longest idle first. Returns their number.
  func closeIdle() -> Int {
    table.withLock { connections in
      let idle = connections.values.filter { $0.isIdle.load(ordering: .relaxed) }
        .sorted { $0.deadline.load(ordering: .relaxed) < $1.deadline.load(ordering: .relaxed) }
      let cut = idle.prefix((idle.count + 1) / 2)
      for connection in cut { shutdown(connection.socket, Int32(SHUT_RDWR)) }
      return cut.count
    }
  }

  private func closeExpired() {
    let now = Self.now()
    table.withLock { connections in
      for connection in connections.values where connection.deadline.load(ordering: .relaxed) < now {
        // The daemon sees the end of the stream and closes the connection.
        shutdown(connection.socket, Int32(SHUT_RDWR))
      }
    }
  }

  /// Returns the milliseconds of the monotonic clock of all deadlines.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
