import CMicroHTTPD
import Glibc
public import TileServing

/// A daemon of libmicrohttpd that gives requests to a site and sends its answers. It decides nothing.
public final class HTTPListener {
  /// What the daemon keeps to; the defaults suit a public server behind a proxy or a private one alone.
  public struct Limits: Sendable {
    public var connections = 4096
    /// Seconds a connection may be idle.
    public var idleTimeout = 15
    /// Seconds from a connection's start or its last answer until the next request must be whole.
    public var requestDeadline = 20
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
  private let daemon: OpaquePointer
  private let context: Unmanaged<ListenerContext>
  private let socket: Int32

  /// Listens on `host`:`port` with `threads` event loops.
  /// - Parameter port: 0 picks a free one.
  public init(
    site: Site, host: String, port: Int, threads: Int, limits: Limits = Limits(),
    log: AccessLog.Style = .none
  ) throws(StartError) {
    socket = try Self.listen(host, port)
    self.port = Self.localPort(socket)
    let context = Unmanaged.passRetained(ListenerContext(site: site, limits: limits, log: AccessLog(log)))
    self.context = context
    guard let daemon = Self.start(context.toOpaque(), socket, threads, limits) else {
      close(socket)
      context.release()
      throw StartError(description: "cannot start the HTTP daemon on port \(port)")
    }
    self.daemon = daemon
    context.takeUnretainedValue().deadlines.start()
    context.takeUnretainedValue().log?.start()
  }

  /// Takes no more connections, lets requests in flight finish for up to `grace` seconds, and ends.
  public func stop(grace: Double) {
    _ = MHD_quiesce_daemon(daemon)
    // Wakes the loops out of waiting for connections.
    shutdown(socket, Int32(SHUT_RD))
    let context = context.takeUnretainedValue()
    var waited = 0.0
    while context.requestsInFlight.load(ordering: .acquiring) > 0, waited < grace {
      usleep(10_000)
      waited += 0.01
    }
    // No connection may be suspended from here on.
    context.site.renders.stop()
    context.deadlines.stop()
    MHD_stop_daemon(daemon)
    context.log?.flush()
    close(socket)
    self.context.release()
  }

  // MARK: The socket

  private static func listen(_ host: String, _ port: Int) throws(StartError) -> Int32 {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &found)
    guard code == 0, let address = found else {
      throw StartError(description: "cannot listen on \(host): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(found) }
    let socket = Glibc.socket(
      address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw refused(host, port, -1) }
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard bind(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0,
      Glibc.listen(socket, 1024) == 0
    else { throw refused(host, port, socket) }
    return socket
  }

  private static func refused(_ host: String, _ port: Int, _ socket: Int32) -> StartError {
    let code = errno
    if socket >= 0 { close(socket) }
    let hint = code == EADDRINUSE ? "; choose another with --port, or --port 0 for a free one" : ""
    return StartError(
      description: "cannot listen on \(host):\(port): \(String(cString: strerror(code)).lowercased())\(hint)")
  }

  private static func localPort(_ socket: Int32) -> Int {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &length) }
      return UnsafeMutableRawPointer(pointer).withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        // The port stands at the same place in sockaddr_in and sockaddr_in6.
        Int(UInt16(bigEndian: $0.pointee.sin_port))
      }
    }
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
      MHD_OptionItem(option: .CONNECTION_TIMEOUT, value: limits.idleTimeout, ptr_value: nil),
      MHD_OptionItem(option: .CONNECTION_MEMORY_LIMIT, value: limits.connectionMemory, ptr_value: nil),
      MHD_OptionItem(option: .STRICT_FOR_CLIENT, value: 1, ptr_value: nil),
      MHD_OptionItem(option: .SIGPIPE_HANDLED_BY_APP, value: 1, ptr_value: nil),
      MHD_OptionItem(
        option: .UNESCAPE_CALLBACK, value: unsafeBitCast(Callbacks.keepEscapes, to: Int.self),
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
