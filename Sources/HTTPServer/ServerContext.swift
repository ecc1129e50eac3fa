import Synchronization
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTileServing

/// The state that the connections of a server share.
final class ServerContext: Sendable {
  let tileServer: TileServer
  let connections = OpenConnections()
  let suspended = SuspendedRequests()
  let taskThreads: TaskThreads
  let lingering = LingeringSockets()
  let log: AccessLog?
  let limits: HTTPServer.Limits
  /// The port for monitors; `nil` if it is the same as for all other clients.
  private let monitorPort: Int?
  /// Connections by client; those of trusted proxies are not counted.
  private let clients: AddressCounts
  /// Requests that come through trusted proxies, by client.
  let proxied: AddressCounts
  let requestsInFlight = Atomic<Int>(0)

  init(
    tileServer: TileServer, limits: HTTPServer.Limits, log: AccessLog?, monitorPort: Int? = nil,
    threads: Int = 1
  ) {
    taskThreads = TaskThreads(threads: threads)
    self.log = log
    self.monitorPort = monitorPort
    self.tileServer = tileServer
    self.limits = limits
    clients = AddressCounts(limit: limits.connectionsPerAddress)
    proxied = AddressCounts(limit: limits.connectionsPerAddress)
  }

  /// Counts one more connection; returns false if the client has as many as it may. A proxy may have any number.
  func admits(connectionOf peer: IPAddress?) -> Bool {
    tileServer.proxies.trusts(peer) || clients.add(ClientAddress(peer))
  }

  func connectionEnded(of peer: IPAddress?) {
    if !tileServer.proxies.trusts(peer) { clients.remove(ClientAddress(peer)) }
  }

  /// Whether a connection came in at the address for monitors.
  func isMonitor(_ socket: Int32) -> Bool {
    monitorPort.map { ListeningSocket.localPort(socket) == $0 } ?? false
  }
}
