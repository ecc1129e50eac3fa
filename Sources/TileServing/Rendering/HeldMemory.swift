import Synchronization
package import ZigguratHTTPMessages

/// The amounts that clients hold of a limited resource. A client that holds as much as is left for all others gets no more.
///
/// So one client has at most half, of two each a third, and there is always some for whoever comes next: dynamic
/// thresholds (Choudhury, Hahne: "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM
/// Transactions on Networking 6, 1998).
package final class HeldMemory: Sendable {
  /// As long as there is one, its client holds that thing.
  package final class Hold: Sendable {
    private let thing: any AnyObject & Sendable
    private let client: ClientAddress
    private let amount: Int
    private let memory: HeldMemory

    fileprivate init(
      _ thing: any AnyObject & Sendable, _ client: ClientAddress, _ amount: Int, _ memory: HeldMemory
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
    /// How often each client holds each thing; once or more, it counts once.
    var holders: [ObjectIdentifier: [ClientAddress: Int]] = [:]
  }

  let limit: Int
  private let state = Mutex(State())

  package init(limit: Int) { self.limit = limit }

  /// The sum over different things.
  package var total: Int { state.withLock { $0.total } }

  func amount(of client: ClientAddress) -> Int { state.withLock { $0.amounts[client, default: 0] } }

  /// Whether the client may have more, of which `more` are asked for.
  package func admits(_ client: ClientAddress, more: Int = 1) -> Bool {
    state.withLock { $0.amounts[client, default: 0] + more <= limit - $0.total }
  }

  /// - Parameter amount: the same whenever it is the same thing.
  package func hold(_ thing: any AnyObject & Sendable, of amount: Int, by client: ClientAddress) -> Hold {
    Hold(thing, client, amount, self)
  }

  /// Holds an amount of a thing that no other client holds.
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
      // None is remembered of a client that holds things of no amount alone.
      let left = state.amounts[client, default: 0] - amount
      state.amounts[client] = left > 0 ? left : nil
      guard state.holders[thing]!.isEmpty else { return }
      state.holders[thing] = nil
      state.total -= amount
    }
  }
}
