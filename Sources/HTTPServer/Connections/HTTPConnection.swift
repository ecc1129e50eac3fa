import Glibc
import Synchronization
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// An accepted connection: its socket, its client, its deadline and its request.
///
/// libmicrohttpd keeps it as the connection's context. The methods read nothing of any other connection.
// Sendable: properties that are neither constant nor atomic are used by the connection's own event loop alone.
final class HTTPConnection: @unchecked Sendable {
  let server: ServerContext
  /// The connection of libmicrohttpd.
  let handle: OpaquePointer
  let socket: Int32
  /// The address of the other end; `nil` if it has none.
  let peer: IPAddress?
  /// Whether the other end is a trusted proxy, whose requests come from clients of its own.
  let isProxy: Bool
  /// Whether it came in at the address for monitors.
  let isMonitor: Bool
  /// The connection's request, one after the other.
  let request = RequestState()
  /// The time at which the connection is cut, in milliseconds of the monotonic clock.
  let deadline: Atomic<UInt64>
  /// Whether the connection waits for the headers of a request.
  let isIdle = Atomic<Bool>(true)
  /// Whether the body of the request comes in chunks. Such a request is the last of its connection.
  var isChunked = false
  /// Whether libmicrohttpd has an idle timeout for this connection alone; see `suspend`.
  var hasOwnTimeout = false
  /// Whether the client may still be sending when the connection ends. Its data are then read for a while.
  var lingers = false
  /// The last Host that was admitted, as sent: most requests have the same.
  private var admittedHost: [UInt8] = []

  /// Creates the context of a connection that has begun.
  init(_ handle: OpaquePointer, of server: ServerContext) {
    self.handle = handle
    self.server = server
    socket = zg_connection_socket(handle)
    peer = zg_client_address(handle).flatMap { IPAddress($0) }
    isProxy = server.tileServer.proxies.trusts(peer)
    isMonitor = server.isMonitor(socket)
    deadline = Atomic(OpenConnections.now() + UInt64(server.limits.requestDeadline) * 1000)
  }

  /// Returns the context of a connection of libmicrohttpd, without a retain.
  static func of(_ handle: OpaquePointer) -> Unmanaged<HTTPConnection>? {
    zg_socket_context(handle).map { Unmanaged.fromOpaque($0) }
  }

  /// Ends the connection. Its socket is still open, so no other connection has its number yet.
  func end() {
    releaseClient()
    if lingers { server.lingering.keep(socket) }
    server.connections.remove(self)
    server.connectionEnded(of: peer)
  }

  // MARK: Deadlines

  /// Sets the deadline of a request. Until then, the next request must be complete, or the rest of a body that makes
  /// progress.
  func expectRequest() {
    deadline.store(
      OpenConnections.now() + UInt64(server.limits.requestDeadline) * 1000, ordering: .relaxed)
  }

  /// Sets the deadline of a response to a complete request, until which it must be sent.
  func expectAnswer() {
    deadline.store(OpenConnections.now() + UInt64(server.limits.answerDeadline) * 1000, ordering: .relaxed)
  }

  // MARK: Clients

  /// The address of the client that sent the request; `nil` if it has none.
  var origin: IPAddress? { isProxy ? request.origin : peer }

  /// The public address that a trusted proxy states for the request; `nil` without one, and if the address is fixed.
  var publicBase: String? {
    guard server.tileServer.readsForwardedBase, isProxy else { return nil }
    return server.tileServer.publicBase(
      { name in header(name).map { list(name, first: $0) } }, at: { ListeningSocket.localAddress(socket) })
  }

  /// Whether the server answers requests with this Host at the connection's address.
  func admits(host: UnsafeBufferPointer<UInt8>) -> Bool {
    let isSame = admittedHost.withUnsafeBytes {
      // An empty buffer has no address.
      $0.count == host.count
        && (host.isEmpty || memcmp($0.baseAddress!, host.baseAddress!, host.count) == 0)
    }
    if isSame { return true }
    guard server.tileServer.admits(host: host, at: { ListeningSocket.localAddress(socket) }) else {
      return false
    }
    admittedHost = Array(host)
    return true
  }

  /// Counts the request of a proxy for its client, until `releaseClient`. Returns false if the client has as many
  /// concurrent requests as it may have connections.
  func countClient() -> Bool {
    guard isProxy, let origin = request.origin, origin != peer else { return true }
    let client = ClientAddress(origin)
    guard server.proxied.add(client) else { return false }
    request.countedClient = client
    return true
  }

  func releaseClient() {
    guard isProxy, let client = request.countedClient else { return }
    request.countedClient = nil
    server.proxied.remove(client)
  }
}
