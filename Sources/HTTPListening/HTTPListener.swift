import CMicroHTTPD
import Glibc
public import TileServing

/// A daemon of libmicrohttpd that gives requests to a site and sends its answers. It decides nothing.
public final class HTTPListener {
  /// What the daemon keeps to; the defaults suit a public server behind a proxy or a private one alone.
  public struct Limits: Sendable {
    public var connections = 4096
    /// From one address; behind a proxy all come from the proxy's.
    public var connectionsPerAddress = 1024
    /// Seconds a connection may be idle.
    public var idleTimeout = 15
    /// Seconds from a connection's start or its last answer until the next request must be whole.
    public var requestDeadline = 20
    /// Seconds from a whole request until its answer must be taken.
    public var answerDeadline = 300
    /// Bytes of a path and its query.
    public var urlLength = 4096
    /// Bytes of memory a connection has; the longest header is about half of it. The daemon clears all of it
    /// after every request: 65536 here cost a third more processor time for each tile.
    public var connectionMemory = 16384

    public init() {}
  }

  /// Why listening could not begin.
  public struct StartError: Error, CustomStringConvertible {
    public let description: String
  }

  /// The port listened on, also where 0 was asked for.
  public let port: Int
  /// One for each address of the host.
  private let daemons: [OpaquePointer]
  private let sockets: [Int32]
  private let context: Unmanaged<ListenerContext>

  /// Listens on `host`:`port`, on every address that the name has, each with `threads` event loops.
  /// - Parameter port: 0 picks a free one.
  public init(
    site: Site, host: String, port: Int, threads: Int, limits: Limits = Limits(),
    log: AccessLog.Style = .none
  ) throws(StartError) {
    (sockets, self.port) = try ListeningSocket.open(host, port)
    context = Unmanaged.passRetained(ListenerContext(site: site, limits: limits, log: AccessLog(log)))
    var daemons: [OpaquePointer] = []
    for socket in sockets {
      guard let daemon = Self.start(context.toOpaque(), socket, threads, limits) else {
        for daemon in daemons { MHD_stop_daemon(daemon) }
        for socket in sockets { close(socket) }
        context.release()
        throw StartError(description: "cannot start the HTTP daemon on port \(port)")
      }
      daemons.append(daemon)
    }
    self.daemons = daemons
    context.takeUnretainedValue().deadlines.start()
    context.takeUnretainedValue().log?.start()
  }

  /// Takes no more connections, lets requests in flight finish for up to `grace` seconds, and ends.
  public func stop(grace: Double) {
    for daemon in daemons { _ = MHD_quiesce_daemon(daemon) }
    // Wakes the loops out of waiting for connections.
    for socket in sockets { shutdown(socket, Int32(SHUT_RD)) }
    let context = context.takeUnretainedValue()
    context.site.events.close()
    var waited = 0.0
    while context.requestsInFlight.load(ordering: .acquiring) > 0, waited < grace {
      usleep(10_000)
      waited += 0.01
    }
    // No connection may be suspended from here on.
    context.site.stop()
    context.deadlines.stop()
    for daemon in daemons { MHD_stop_daemon(daemon) }
    context.log?.flush()
    for socket in sockets { close(socket) }
    self.context.release()
  }

  // MARK: The daemon

  private static func start(
    _ context: UnsafeMutableRawPointer, _ socket: Int32, _ threads: Int, _ limits: Limits
  ) -> OpaquePointer? {
    let flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_USE_TURBO.rawValue
    var options = [
      MHD_OptionItem(option: .LISTEN_SOCKET, value: Int(socket), ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_LIMIT, value: limits.connections, ptr_value: nil),
      MHD_OptionItem(option: .PER_IP_CONNECTION_LIMIT, value: limits.connectionsPerAddress, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeout, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionMemory, ptr_value: nil),
      MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 1, ptr_value: nil),
      MHD_OptionItem(option: .SIGPIPE_HANDLED_BY_APP, value: 1, ptr_value: nil),
      MHD_OptionItem(
        option: .UNESCAPE_CALLBACK, value: unsafeBitCast(Callbacks.keepEscapes, to: Int.self),
        ptr_value: nil),
      MHD_OptionItem(
        option: .URI_LOG_CALLBACK, value: unsafeBitCast(Callbacks.seeURI, to: Int.self),
        ptr_value: nil),
      MHD_OptionItem(
        option: .NOTIFY_COMPLETED, value: unsafeBitCast(Callbacks.requestCompleted, to: Int.self),
        ptr_value: context),
      MHD_OptionItem(
        option: .NOTIFY_CONNECTION, value: unsafeBitCast(Callbacks.connectionChanged, to: Int.self),
        ptr_value: context),
    ]
    // A pool of one thread is refused; without a pool there is one.
    if threads > 1 {
      options.append(MHD_OptionItem(option: .THREAD_POOL_SIZE, value: threads, ptr_value: nil))
    }
    options.append(MHD_OptionItem(option: .END, value: 0, ptr_value: nil))
    return options.withUnsafeMutableBufferPointer { items in
      withVaList([MHD_OPTION.ARRAY.rawValue, items.baseAddress!, MHD_OPTION.END.rawValue]) { list in
        MHD_start_daemon_va(flags, 0, nil, nil, Callbacks.handle, context, list)
      }
    }
  }
}
