import Glibc
import Synchronization
import ZigguratCMicroHTTPD

/// A libmicrohttpd daemon with one thread, which serves the connections that it is given.
// Sendable: the daemon is set once, before any connection exists, and has its own locks.
final class EventLoop: @unchecked Sendable {
  /// The maximum number of connections. libmicrohttpd takes at most 128 events at once. If that many arrive, it waits
  /// for more, up to the idle timeout, before it handles any. Each connection has one event, and the wake-up of the
  /// loop another.
  static let capacity = 126

  private let server: ServerContext
  private let count = Atomic<Int>(0)
  private var daemon: OpaquePointer!

  /// Starts a loop; nil if the system has no thread or descriptor.
  init?(_ server: ServerContext) {
    self.server = server
    guard let daemon = start() else { return nil }
    self.daemon = daemon
  }

  /// The number of connections, including those that the loop has not seen yet.
  var connections: Int { count.load(ordering: .relaxed) }

  /// Takes over a connection. If that fails, closes the connection and returns false.
  func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
    count.wrappingAdd(1, ordering: .relaxed)
    if MHD_add_connection(daemon, socket, address, length) == .YES { return true }
    count.wrappingSubtract(1, ordering: .relaxed)
    return false
  }

  /// Starts a connection that libmicrohttpd has taken over, on the loop's thread.
  func begin(_ handle: OpaquePointer) -> HTTPConnection {
    server.tileServer.loops.join()
    let connection = HTTPConnection(handle, of: server)
    server.connections.add(connection)
    server.tileServer.metrics.connections.wrappingAdd(1, ordering: .relaxed)
    return connection
  }

  /// Ends a connection, whose socket libmicrohttpd closes afterwards.
  func end(_ connection: HTTPConnection) {
    server.tileServer.metrics.connections.wrappingSubtract(1, ordering: .relaxed)
    connection.end()
    count.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Ends all connections and the thread.
  func stop() { MHD_stop_daemon(daemon) }

  private func start() -> OpaquePointer? {
    let limits = server.limits
    let loop = Unmanaged.passUnretained(self).toOpaque()
    // Without MHD_USE_ERROR_LOG: the daemon's messages name no connection and go to stderr.
    let flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_USE_TURBO.rawValue | MHD_USE_NO_LISTEN_SOCKET.rawValue
    var options = [
      // Above the capacity, because libmicrohttpd may briefly still count a connection that has ended.
      MHD_OptionItem(option: .CONNECTION_LIMIT, value: 2 * Self.capacity, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeout, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionMemory, ptr_value: nil),
      // A stricter daemon drops connections or sends two status lines. `RequestSmugglingGuard` does the strict checks.
      MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 0, ptr_value: nil),
      MHD_OptionItem(option: .SIGPIPE_HANDLED_BY_APP, value: 1, ptr_value: nil),
      MHD_OptionItem(
        option: .UNESCAPE_CALLBACK, value: unsafeBitCast(MHDCallbacks.keepEscapes, to: Int.self),
        ptr_value: nil),
      MHD_OptionItem(
        option: .URI_LOG_CALLBACK, value: unsafeBitCast(MHDCallbacks.seeURI, to: Int.self),
        ptr_value: nil),
      MHD_OptionItem(
        option: .NOTIFY_COMPLETED, value: unsafeBitCast(MHDCallbacks.requestCompleted, to: Int.self),
        ptr_value: nil),
      MHD_OptionItem(
        option: .NOTIFY_CONNECTION, value: unsafeBitCast(MHDCallbacks.connectionChanged, to: Int.self),
        ptr_value: loop),
      MHD_OptionItem(option: .END, value: 0, ptr_value: nil),
    ]
    return options.withUnsafeMutableBufferPointer { items in
      withVaList([MHD_OPTION.ARRAY.rawValue, items.baseAddress!, MHD_OPTION.END.rawValue]) { list in
        MHD_start_daemon_va(flags, 0, nil, nil, MHDCallbacks.handle, nil, list)
      }
    }
  }
}
