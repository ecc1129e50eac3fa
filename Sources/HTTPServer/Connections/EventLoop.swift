import Glibc
import Synchronization
import ZigguratCMicroHTTPD

/// One daemon of libmicrohttpd with one thread, which answers the connections it is given.
// Sendable: the daemon is set once, before there is a connection, and has locks of its own.
final class EventLoop: @unchecked Sendable {
  /// Connections it may have at a time. libmicrohttpd takes 128 events at once, and where that many come it
  /// waits for more, up to the idle timeout, before it looks at any; each connection has one, and what wakes
  /// the loop another.
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

  /// Connections it has, those included that it has not seen yet.
  var connections: Int { count.load(ordering: .relaxed) }

  /// Takes over a connection; false where it could not, and then the connection is closed.
  func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Bool {
    count.wrappingAdd(1, ordering: .relaxed)
    if MHD_add_connection(daemon, socket, address, length) == .YES { return true }
    count.wrappingSubtract(1, ordering: .relaxed)
    return false
  }

  /// Begins a connection that libmicrohttpd has taken over, on the loop's thread.
  func begin(_ handle: OpaquePointer) -> Connection {
    server.tileServer.loops.join()
    let connection = Connection(handle, of: server)
    server.connections.add(connection)
    server.tileServer.metrics.connections.wrappingAdd(1, ordering: .relaxed)
    return connection
  }

  /// Ends a connection, whose socket libmicrohttpd closes afterwards.
  func end(_ connection: Connection) {
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
      // Beyond the capacity, which counts a connection that ends a moment less.
      MHD_OptionItem(option: .CONNECTION_LIMIT, value: 2 * Self.capacity, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeout, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionMemory, ptr_value: nil),
      // Stricter, it drops connections without an answer or answers with two heads; `RequestSmugglingGuard` is strict.
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
