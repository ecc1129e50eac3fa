import Glibc
import Synchronization
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// The state that the daemon's callbacks share.
final class ServerContext: Sendable {
  let site: Site
  let deadlines: ConnectionDeadlines
  let lingering = LingeringSockets()
  let log: AccessLog?
  let limits: HTTPServer.Limits
  /// The port for monitors; nil if it is the same as for all other clients.
  private let monitorPort: Int?
  /// Connections by client; those of trusted proxies are not counted.
  private let connections: AddressCounts
  /// Requests that come through trusted proxies, by client.
  private let proxied: AddressCounts
  let requestsInFlight = Atomic<Int>(0)

  init(site: Site, limits: HTTPServer.Limits, log: AccessLog?, monitorPort: Int? = nil) {
    self.log = log
    self.monitorPort = monitorPort
    self.site = site
    self.limits = limits
    connections = AddressCounts(limit: limits.connectionsPerAddress)
    proxied = AddressCounts(limit: limits.connectionsPerAddress)
    deadlines = ConnectionDeadlines(request: limits.requestDeadline, answer: limits.answerDeadline)
  }

  /// The context behind a callback's closure pointer, without a retain.
  static func from(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<ServerContext> {
    Unmanaged<ServerContext>.fromOpaque(pointer)
  }

  // MARK: Clients

  /// Counts one more connection; false where the client has as many as it may. A proxy may have any number.
  func admits(connectionOf peer: IPAddress?) -> Bool {
    site.proxies.trusts(peer) || connections.add(ClientAddress(peer))
  }

  func connectionEnded(of peer: IPAddress?) {
    if !site.proxies.trusts(peer) { connections.remove(ClientAddress(peer)) }
  }

  /// A connection began. The result is retained once, for `end`.
  func begin(_ connection: OpaquePointer) -> Unmanaged<ConnectionDeadlines.Connection> {
    let peer = zg_client_address(connection).flatMap { IPAddress($0) }
    let socket = zg_connection_socket(connection)
    let isMonitor = monitorPort.map { ListeningSocket.localPort(socket) == $0 } ?? false
    return deadlines.begin(
      self, socket: socket, peer: peer, isProxy: site.proxies.trusts(peer), isMonitor: isMonitor)
  }

  /// A connection ends; its socket is still open.
  func end(_ connection: Unmanaged<ConnectionDeadlines.Connection>) {
    requestEnded(connection)
    let peer = connection._withUnsafeGuaranteedRef { known in
      if known.lingers { lingering.keep(known.socket) }
      return known.peer
    }
    deadlines.end(connection)
    connectionEnded(of: peer)
  }

  /// A request's headers are there.
  func begin(
    _ known: Unmanaged<ConnectionDeadlines.Connection>, _ connection: OpaquePointer,
    _ notes: RequestGuard.Notes
  ) {
    known._withUnsafeGuaranteedRef { known in
      known.cookie = notes.cookie
      known.headerCount = notes.headerCount
      // It stays: there is no request behind it.
      if notes.framing.isChunked { known.isChunked = true }
      guard known.isProxy else { return }
      known.origin = known.peer
      guard notes.forwardedLines > 0 else { return }
      if notes.forwardedLines == 1 {
        known.origin = site.proxies.origin(known.peer, forwarded: notes.forwarded)
      } else if let first = MHD_lookup_connection_value(connection, .HEADER_KIND, "X-Forwarded-For") {
        var lines = listHeader(connection, "X-Forwarded-For", first: first)
        known.origin = lines.withUTF8 { site.proxies.origin(known.peer, forwarded: $0) }
      }
    }
  }

  /// The address of the client that sent the connection's request.
  func origin(of connection: OpaquePointer) -> IPAddress? {
    deadline(connection)?._withUnsafeGuaranteedRef { $0.isProxy ? $0.origin : $0.peer }
  }

  /// The address that a trusted proxy states for the request; nil without one, and where the address is fixed.
  func publicBase(of connection: OpaquePointer) -> String? {
    guard site.readsForwardedBase, let known = deadline(connection) else { return nil }
    let (isProxy, socket) = known._withUnsafeGuaranteedRef { ($0.isProxy, $0.socket) }
    guard isProxy else { return nil }
    return site.publicBase(
      { name in header(connection, name).map { listHeader(connection, name, first: $0) } },
      at: { ListeningSocket.localAddress(socket) })
  }

  /// Whether the connection came in where monitors ask.
  func isMonitor(_ connection: OpaquePointer) -> Bool {
    deadline(connection)?._withUnsafeGuaranteedRef { $0.isMonitor } ?? false
  }

  /// Whether the server goes by the request's Host where its connection came in.
  func admits(
    _ host: UnsafeBufferPointer<UInt8>, _ known: Unmanaged<ConnectionDeadlines.Connection>
  ) -> Bool {
    known._withUnsafeGuaranteedRef { known in
      let isSame = known.host.withUnsafeBytes {
        // An empty buffer has no address.
        $0.count == host.count
          && (host.isEmpty || memcmp($0.baseAddress!, host.baseAddress!, host.count) == 0)
      }
      if isSame { return true }
      guard site.admits(host: host, at: { ListeningSocket.localAddress(known.socket) }) else { return false }
      known.host = Array(host)
      return true
    }
  }

  /// Sends a refusal past the daemon, which closes the connection then.
  func refuseDirectly(
    _ why: MalformedRequest, _ connection: OpaquePointer, _ known: ConnectionDeadlines.Connection,
    isHead: Bool = false
  ) {
    DirectRefusal.send(why, to: known.socket, isHead: isHead)
    known.lingers = true
    let isCounted = known.isInRequest
    if !isCounted { known.begin(.page) }
    let bytes = isHead ? 0 : why.text.utf8CodeUnitCount
    known.answer(why.status, bytes)
    if log != nil {
      let nothing: StaticString = "-"
      let target = known.target ?? UnsafeRawPointer(nothing.utf8Start).assumingMemoryBound(to: CChar.self)
      let seen = RequestTarget(target, known.target == nil ? nil : known.hidden, below: site.basePath)
      note(self, connection, "-", seen, why.status, bytes)
    }
    // The daemon reports only the end of requests that the handler has seen.
    if !isCounted { known.count(in: site.metrics, log) }
  }

  /// Counts a proxy's request for its client, until `requestEnded`; false where the client has as many at a time
  /// as it might have connections.
  func admits(_ known: Unmanaged<ConnectionDeadlines.Connection>) -> Bool {
    known._withUnsafeGuaranteedRef { known in
      guard known.isProxy, let origin = known.origin, origin != known.peer else { return true }
      let client = ClientAddress(origin)
      guard proxied.add(client) else { return false }
      known.client = client
      return true
    }
  }

  func requestEnded(_ connection: Unmanaged<ConnectionDeadlines.Connection>) {
    connection._withUnsafeGuaranteedRef { known in
      guard known.isProxy, let client = known.client else { return }
      known.client = nil
      proxied.remove(client)
    }
  }
}
