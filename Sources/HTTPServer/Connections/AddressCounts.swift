import Synchronization
import ZigguratHTTPMessages
import ZigguratTileServing

/// Counts the connections, or requests, of each client.
final class AddressCounts: Sendable {
  private let limit: Int
  private let counts = Mutex<[ClientAddress: Int]>([:])

  init(limit: Int) { self.limit = limit }

  /// Counts one more. Returns false if the client has reached its limit.
  func add(_ address: ClientAddress) -> Bool {
    counts.withLock { counts in
      let count = counts[address, default: 0]
      if count < limit { counts[address] = count + 1 }
      return count < limit
    }
  }

  func remove(_ address: ClientAddress) {
    counts.withLock { counts in
      let count = counts[address, default: 0]
      counts[address] = count > 1 ? count - 1 : nil
    }
  }
}
