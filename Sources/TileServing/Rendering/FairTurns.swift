import ZigguratHTTPMessages

/// A fair queue of waiting clients: the client that received the least so far is first. The jobs of one client keep the
/// order of their arrival.
///
/// Start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair Queueing", SIGCOMM 1996): a client that comes counts
/// as if it had been given as much as the one that was served last, so nobody saves up turns by staying away, and
/// nobody pays for work that nobody else waited for.
struct FairTurns<Key: Hashable & Sendable>: Sendable {
  private struct Client {
    /// The cost of all that was begun, on a scale that all clients share.
    var given = 0
    var waiting: [(key: Key, cost: Int, number: Int)] = []
  }

  private var clients: [ClientAddress: Client] = [:]
  /// The amount that the client served last had received.
  private var now = 0
  private var arrivals = 0
  private static var longest: Int { 1 << 61 }
  /// Clients that are remembered although they do not wait.
  private static var memory: Int { 1024 }

  /// - Parameter cost: above 0, in any unit; far below 2^60.
  mutating func add(_ key: Key, of address: ClientAddress, cost: Int) {
    var client = clients[address] ?? Client()
    if client.waiting.isEmpty { client.given = max(client.given, now) }
    arrivals += 1
    client.waiting.append((key, cost, arrivals))
    clients[address] = client
  }

  /// Takes the key whose turn it is, which counts as begun; clients that may have nothing now keep their place.
  mutating func next(where mayHave: (ClientAddress) -> Bool = { _ in true }) -> Key? {
    let waiting = clients.filter { !$0.value.waiting.isEmpty && mayHave($0.key) }
    let first = waiting.min { one, other in
      (one.value.given, one.value.waiting[0].number) < (other.value.given, other.value.waiting[0].number)
    }
    guard let address = first?.key, var client = first?.value else { return nil }
    let (key, cost, _) = client.waiting.removeFirst()
    now = client.given
    client.given += cost
    clients[address] = client
    if now > Self.longest { beginAnew() }
    if clients.count > Self.memory { clients = clients.filter { !$0.value.waiting.isEmpty } }
    return key
  }

  /// Reckons from the last turn on: sums do not grow for ever.
  private mutating func beginAnew() {
    clients = clients.mapValues { client in
      var client = client
      client.given = max(0, client.given - now)
      return client
    }
    now = 0
  }

  /// Takes the key that came last of a client's.
  mutating func takeLast(of address: ClientAddress) -> Key? { clients[address]?.waiting.popLast()?.key }

  /// Takes a key out of a client's without its turn.
  mutating func remove(_ key: Key, of address: ClientAddress) {
    clients[address]?.waiting.removeAll { $0.key == key }
  }

  var isEmpty: Bool { clients.allSatisfy { $0.value.waiting.isEmpty } }

  func count(of address: ClientAddress) -> Int { clients[address]?.waiting.count ?? 0 }

  /// The clients that wait.
  var waiting: [ClientAddress] { clients.filter { !$0.value.waiting.isEmpty }.map(\.key) }
}
