import Synchronization
package import ZigguratHTTPMessages

/// A quota tracker for a limited resource. A client that holds as much as is left for all others gets no more.
///
/// One client can hold at most half, two clients a third each, and some is always left for the next client. These
/// are dynamic thresholds (Choudhury, Hahne: "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches",
/// IEEE/ACM Transactions on Networking 6, 1998).
package final class MemoryQuota: Sendable {
  /// A client's share of an object, held for the lifetime of this reference.
  package final class Hold: Sendable {
    private let thing: any AnyObject & Sendable
    private let client: ClientAddress
    private let amount: Int
    private let memory: MemoryQuota

    fileprivate init(
      _ thing: any AnyObject & Sendable, _ client: ClientAddress, _ amount: Int, _ memory: MemoryQuota
    ) {
      self.thing = thing
      self.client = client
      self.amount = amount
      self.memory = memory
      memory.add(ObjectIdentifier(thing), client, amount)
    }

    deinit { memory.remove(ObjectIdentifier(thing), client, amount) }
  }

  private struct State {
    var total = 0
    var amounts: [ClientAddress: Int] = [:]
    /// The number of holds of each client on each object; several holds count once.
    var holders: [ObjectIdentifier: [ClientAddress: Int]] = [:]
  }

  let limit: Int
  private let state = Mutex(State())

  package init(limit: Int) { self.limit = limit }

  /// The amount of all distinct objects that are held.
  package var total: Int { state.withLock { $0.total } }

  func amount(of client: ClientAddress) -> Int { state.withLock { $0.amounts[client, default: 0] } }

  /// Whether the client may hold `more` in addition.
  package func admits(_ client: ClientAddress, more: Int = 1) -> Bool {
    state.withLock { $0.amounts[client, default: 0] + more <= limit - $0.total }
  }

  /// - Parameter amount: must be equal for equal objects.
  package func hold(_ thing: any AnyObject & Sendable, of amount: Int, by client: ClientAddress) -> Hold {
    Hold(thing, client, amount, self)
  }

  /// Holds an amount that is not shared with other clients.
  func hold(_ amount: Int, by client: ClientAddress) -> Hold { hold(Nameless(), of: amount, by: client) }

  private final class Nameless: Sendable {}

  private func add(_ thing: ObjectIdentifier, _ client: ClientAddress, _ amount: Int) {
    state.withLock { state in
      if state.holders[thing] == nil { state.total += amount }
      let count = state.holders[thing, default: [:]][client, default: 0]
      if count == 0 { state.amounts[client, default: 0] += amount }
      state.holders[thing, default: [:]][client] = count + 1
    }
  }

  private func remove(_ thing: ObjectIdentifier, _ client: ClientAddress, _ amount: Int) {
    state.withLock { state in
      let count = state.holders[thing]![client]!
      if count > 1 {
        state.holders[thing]![client] = count - 1
        return
      }
      state.holders[thing]![client] = nil
      // Clients that hold only objects with amount 0 are not remembered.
      let left = state.amounts[client, default: 0] - amount
      state.amounts[client] = left > 0 ? left : nil
      guard state.holders[thing]!.isEmpty else { return }
      state.holders[thing] = nil
      state.total -= amount
    }
  }
}
