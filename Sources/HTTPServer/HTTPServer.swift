import Glibc
import ZigguratFiles
package import ZigguratTileServing

/// A libmicrohttpd daemon that passes requests to a `TileServer` and sends its replies. It makes no decisions.
package final class HTTPServer {
  /// The daemon's limits. The defaults suit a public server behind a proxy, and a private one.
  package struct Limits: Codable, Equatable, Sendable {
    package var connections = 4096
    /// Maximum connections from one address. With a proxy, all connections have the proxy's address.
    package var connectionsPerAddress = 1024
    /// Seconds for which a connection may be idle.
    package var idleTimeout = 15
    /// Seconds from a connection's start or its last response until the next request must be complete.
    package var requestDeadline = 20
    /// Seconds from a complete request until the client must have received its response.
    package var answerDeadline = 300
    /// Maximum bytes of a path and its query.
    package var urlLength = 4096
    /// Maximum bytes of a request's headers.
    package var headerSize = 8192

    /// Bytes of the record that the daemon makes for a header.
    static let headerRecord = 64
    /// Bytes of memory for a connection's request and the head of its response. 200 headers of 8 KB in total, their
    /// records and the decoy's take 21,056. 1,472 are left for the request line and the response. The daemon clears all
    /// of this memory after every request, and half of it before every response. Each KB more is 1,536 bytes more to
    /// clear for every tile.
    var connectionMemory: Int { 2 * headerSize + 6144 + max(0, urlLength - 4096) }
    /// Bytes of that for a request's head and the records of its headers. The rest contains the head of a response.
    var headerMemory: Int { connectionMemory - 1400 }

    package init() {}
  }

  /// The reason why the server cannot listen.
  package struct StartError: Error, CustomStringConvertible {
    package let description: String
    /// The system's error number; 0 if no system call failed.
    var code: Int32 = 0

    init(description: String) { self.description = description }

    /// - Parameters:
    ///   - action: a verb and its object.
    ///   - code: the system's error number.
    ///   - advice: text after the reason; may be empty.
    init(cannot action: String, errno code: Int32, advice: String = "") {
      description = "cannot \(action): \(String(cString: strerror(code)).lowercased())\(advice)"
      self.code = code
    }
  }

  /// The listening port, also if 0 was requested.
  package let port: Int
  /// One socket for each address of the host.
  private let sockets: [Int32]
  private let handed: [Int32]
  private let paths: [String]
  /// The port of the listener for monitors.
  package let monitorPort: Int?
  let context: ServerContext
  private let acceptor: ConnectionAcceptor

  /// Listens on `host`:`port`, at every address of the name, with `threads` event loops. Starts more loops when these
  /// have reached their capacity.
  ///
  /// - Parameters:
  ///   - hosts: names or addresses; the server listens at all their addresses.
  ///   - port: the port; 0 picks a free one.
  ///   - paths: the paths of Unix sockets to listen on.
  ///   - handed: inherited sockets that already listen.
  ///   - monitors: the address of a listener that serves only `/metrics` and `/healthz`.
  ///   - logFile: the file of the log; nil for stderr.
  ///   - report: called with messages for the operator.
  package init(
    tileServer: TileServer, hosts: [String], port: Int, paths: [String] = [], handed: [InheritedSocket] = [],
    monitors: (host: String, port: Int)? = nil, threads: Int, limits: Limits = Limits(),
    log: AccessLog.Style = .none, logFile: String? = nil, report: @escaping @Sendable (String) -> Void
  ) throws(StartError) {
    let log = try AccessLog(log, to: logFile, metrics: tileServer.metrics, report: report)
    var sockets: [Int32] = []
    do throws(StartError) {
      (sockets, self.port) = try hosts.isEmpty ? ([], 0) : ListeningSocket.open(hosts, port, .everybody)
      for path in paths { sockets.append(try ListeningSocket.open(path: path)) }
      let monitoring = try monitors.map { (place) throws(StartError) in
        try ListeningSocket.open([place.host], place.port, .monitors)
      }
      sockets += monitoring?.sockets ?? []
      monitorPort = monitoring?.port
    } catch {
      for socket in sockets { close(socket) }
      throw error
    }
    self.sockets = sockets
    self.paths = paths
    self.handed = handed.map(\.descriptor)
    context = ServerContext(
      tileServer: tileServer, limits: limits, log: log, monitorPort: monitorPort, threads: threads)
    acceptor = ConnectionAcceptor(context, sockets, shared: self.handed, threads: threads)
    guard acceptor.start() else {
      for socket in sockets { close(socket) }
      throw StartError(description: "cannot start the HTTP daemon on port \(port)")
    }
    context.connections.start()
    context.suspended.start()
    DescriptorRelief.shared.add { [connections = context.connections] in connections.closeIdle() }
    context.log?.start()
  }

  /// Shuts down gracefully, on SIGTERM or SIGINT: accepts no more connections, lets requests in flight finish for up to `timeout` seconds,
  /// and ends.
  package func shutdownGracefully(timeout: Double) {
    acceptor.stop()
    context.tileServer.events.close()
    var waited = 0.0
    while context.requestsInFlight.load(ordering: .acquiring) > 0, waited < timeout {
      usleep(10_000)
      waited += 0.01
    }
    context.tileServer.stop()
    // No connection may be suspended when its loop ends.
    context.suspended.stop()
    context.taskThreads.stop()
    context.connections.stop()
    acceptor.stopLoops()
    context.lingering.stop()
    context.log?.flush()
    for socket in sockets + handed { close(socket) }
    for path in paths { unlink(path) }
  }

  /// Reopens the log's file after it was moved away.
  package func reopenLog() throws(StartError) { try context.log?.reopen() }
}
