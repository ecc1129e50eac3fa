import CMicroHTTPD
import Synchronization
import TileServing

/// What the daemon's callbacks work with.
final class ListenerContext: Sendable {
  let site: Site
  let deadlines: ConnectionDeadlines
  let log: AccessLog?
  let limits: HTTPListener.Limits
  let addresses: AddressCounts
  let requestsInFlight = Atomic<Int>(0)

  init(site: Site, limits: HTTPListener.Limits, log: AccessLog?) {
    self.log = log
    self.site = site
    self.limits = limits
    addresses = AddressCounts(limit: limits.connectionsPerAddress)
    deadlines = ConnectionDeadlines(request: limits.requestDeadline, answer: limits.answerDeadline)
  }

  /// The context behind a callback's closure pointer, without a retain.
  static func from(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<ListenerContext> {
    Unmanaged<ListenerContext>.fromOpaque(pointer)
  }
}
