import Glibc
import ZigguratFiles
package import ZigguratTileServing

/// A daemon of libmicrohttpd that gives requests to a `TileServer` and sends its replies. It decides nothing.
package final class HTTPServer {
  /// The daemon's limits; the defaults suit a public server behind a proxy or a private one alone.
  package struct Limits: Codable, Equatable, Sendable {
    package var connections = 4096
    /// From one address; behind a proxy all come from the proxy's.
    package var connectionsPerAddress = 1024
    /// Seconds a connection may be idle.
    package var idleTimeout = 15
    /// Seconds from a connection's start or its last answer until the next request must be whole.
    package var requestDeadline = 20
    /// Seconds from a whole request until its answer must be taken.
    package var answerDeadline = 300
    /// Bytes of a path and its query.
    package var urlLength = 4096
    /// Bytes of a request's headers.
    package var headerSize = 8192

    /// Bytes of the record that the daemon makes of a header.
    static let headerRecord = 64
    /// Bytes of memory that the daemon has for a connection's request and the head of its answer: 200 headers of 8 KB in
    /// all, their records and the decoy's take 21,056, and 1,472 are left for the request line and the answer. The
    /// daemon clears all of the memory after every request, and half of it before every answer: each KB more is 1,536
    /// bytes more to clear for every tile.
    var connectionMemory: Int { 2 * headerSize + 6144 + max(0, urlLength - 4096) }
    /// Bytes of that for a request's head and the records of its headers; what is left holds the head of an answer.
    var headerMemory: Int { connectionMemory - 1400 }

    package init() {}
  }

  /// Why listening could not begin.
  package struct StartError: Error, CustomStringConvertible {
    package let description: String
    /// The system's error number; 0 if it was not the system that refused.
    var code: Int32 = 0

    init(description: String) { self.description = description }

    /// - Parameters:
    ///   - action: a verb and its object.
    ///   - code: the system's error number.
    ///   - advice: behind the reason; empty if there is none.
    init(cannot action: String, errno code: Int32, advice: String = "") {
      description = "cannot \(action): \(String(cString: strerror(code)).lowercased())\(advice)"
      self.code = code
    }
  }

  /// The port listened on, also where 0 was asked for.
  package let port: Int
  /// One for each address of the host.
  private let sockets: [Int32]
  private let handed: [Int32]
  private let paths: [String]
  /// The port for monitors.
  package let monitorPort: Int?
  let context: ServerContext
  private let acceptor: ConnectionAcceptor

  /// Listens on `host`:`port`, on every address that the name has, with `threads` event loops, and more where
  /// these have as many connections as they can.
  /// - Parameters:
  ///   - hosts: names or addresses, each listened on at all its addresses.
  ///   - port: 0 picks a free one.
  ///   - paths: sockets of the file system that are listened on, too.
  ///   - handed: sockets that listen already.
  ///   - monitors: where `/metrics` is asked for, and `/healthz`, and nothing else is answered.
  ///   - logFile: what lines of the log are added to; nil for stderr.
  ///   - report: takes lines for the operator.
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
    DescriptorRelief.shared.add { [connections = context.connections] in connections.cutIdle() }
    context.log?.start()
  }

  /// Takes no more connections, lets requests in flight finish for up to `grace` seconds, and ends.
  package func stop(grace: Double) {
    acceptor.stop()
    context.tileServer.events.close()
    var waited = 0.0
    while context.requestsInFlight.load(ordering: .acquiring) > 0, waited < grace {
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

  /// Opens the log's file again, after it was moved away.
  package func reopenLog() throws(StartError) { try context.log?.reopen() }
}
