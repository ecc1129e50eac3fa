import ZigguratHTTPMessages

/// A fair queue of clients' jobs. The client with the least service so far is next; jobs of one client keep their
/// order of arrival.
///
/// The algorithm is start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair Queueing", SIGCOMM 1996). A new
/// client starts with the service of the client that was served last. So no client accumulates credit while it is
/// idle, and none is charged for service that did not delay others.
struct FairQueue<Key: Hashable & Sendable>: Sendable {
  private struct Client {
    /// The cost of all jobs that were started, on a scale common to all clients.
    var given = 0
    var waiting: [(key: Key, cost: Int, number: Int)] = []
  }

  private var clients: [ClientAddress: Client] = [:]
  /// The service of the client that was served last, before its job (virtual time).
  private var now = 0
  private var arrivals = 0
  private static var maxLength: Int { 1 << 61 }
  /// Maximum number of clients that are remembered without waiting jobs.
  private static var memory: Int { 1024 }

  /// - Parameter cost: above 0, in any unit; far below 2^60.
  mutating func add(_ key: Key, of address: ClientAddress, cost: Int) {
    var client = clients[address] ?? Client()
    if client.waiting.isEmpty { client.given = max(client.given, now) }
    arrivals += 1
    client.waiting.append((key, cost, arrivals))
    clients[address] = client
  }

  /// Removes and returns the next job, which counts as started. Clients that `mayHave` rejects keep their place.
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
    if now > Self.maxLength { rebase() }
    if clients.count > Self.memory { clients = clients.filter { !$0.value.waiting.isEmpty } }
    return key
  }

  /// Rebases the sums on the current virtual time, so that they do not grow without bound.
  private mutating func rebase() {
    clients = clients.mapValues { client in
      var client = client
      client.given = max(0, client.given - now)
      return client
    }
    now = 0
  }

  /// Removes and returns the job of a client that arrived last.
  mutating func takeLast(of address: ClientAddress) -> Key? { clients[address]?.waiting.popLast()?.key }

  /// Removes a job of a client without starting it.
  mutating func remove(_ key: Key, of address: ClientAddress) {
    clients[address]?.waiting.removeAll { $0.key == key }
  }

  var isEmpty: Bool { clients.allSatisfy { $0.value.waiting.isEmpty } }

  func count(of address: ClientAddress) -> Int { clients[address]?.waiting.count ?? 0 }

  /// The clients with waiting jobs.
  var waiting: [ClientAddress] { clients.filter { !$0.value.waiting.isEmpty }.map(\.key) }
}
