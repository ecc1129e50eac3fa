import Testing
import ZigguratTileServing

@testable import ZigguratHTTPServer

/// Limits of a request's size, and of the number of connections and requests.
@Suite struct LimitTests {
  /// Headers of that many bytes with the ends of their lines, in so many fields.
  private static func head(_ size: Int, fields: Int) -> String {
    var lines = ["Host: localhost\r\n", "Connection: close\r\n"]
    var left = size - lines.reduce(0) { $0 + $1.utf8.count }
    for number in 0..<(fields - 2) {
      let name = "X-\(number): "
      let length = left / (fields - 2 - number)
      left -= length
      lines.append(name + String(repeating: "a", count: length - name.utf8.count - 2) + "\r\n")
    }
    return lines.joined()
  }

  @Test("headers are limited in bytes, and one 431 is sent", arguments: [3, 10, 100, 200])
  func headerSize(fields: Int) throws {
    let server = try TestServer()
    for (size, status) in [(8191, 200), (8192, 200), (8193, 431), (16_000, 431), (60_000, 431)] {
      let head = Self.head(size, fields: fields)
      #expect(head.utf8.count == size)
      for rest in [0, 1, 700] {
        let client = try Client(server)
        let request = "GET \(TestServer.tile(1)) HTTP/1.1\r\n" + head + "\r\n"
        client.send(String(request.dropLast(rest)))
        client.send(String(request.suffix(rest)))
        #expect(try client.statuses() == [status], "\(size) bytes, the last \(rest) by themselves")
      }
    }
  }

  @Test("a higher limit allows longer headers")
  func longHeaders() throws {
    let server = try TestServer { $0.headerSize = 30_000 }
    for (size, status) in [(30_000, 200), (30_001, 431)] {
      let client = try Client(server)
      client.send(
        "GET \(TestServer.tile(1)) HTTP/1.1\r\n" + Self.head(size, fields: 8) + "\r\n", pieces: 1000)
      #expect(try client.statuses() == [status])
    }
  }

  @Test("path and query are limited together", arguments: [0, 100])
  func urlLength(query: Int) throws {
    let server = try TestServer { $0.urlLength = 200 }
    for (length, status) in [(199, 404), (200, 404), (201, 414), (1000, 414)] {
      let client = try Client(server)
      let path = "/" + String(repeating: "a", count: length - query - 1)
      // The mark between the two is no part of either.
      let target = query == 0 ? path : path + "?" + String(repeating: "b", count: query)
      client.send(TestServer.get(target, "Connection: close") + TestServer.inner)
      #expect(try client.statuses() == [status])
    }
  }

  @Test("connections above the limit wait until others close")
  func connections() throws {
    let server = try TestServer { $0.connections = 2 }
    var clients: [Client] = []
    for _ in 0..<2 {
      let client = try Client(server)
      client.send(TestServer.inner)
      #expect(try client.response().status == 200)
      clients.append(client)
    }
    let waiting = try Client(server)
    waiting.send(TestServer.inner)
    // The others are still answered, and there are no more.
    for client in clients {
      client.send(TestServer.inner)
      #expect(try client.response().status == 200)
    }
    #expect(server.connections == 2)
    clients.removeLast()
    #expect(try waiting.response().text == "tile 0")
    #expect(server.connections == 2)
  }

  @Test("connections of an address above its limit are closed without a response")
  func connectionsPerAddress() throws {
    let server = try TestServer { $0.connectionsPerAddress = 2 }
    var clients: [Client] = []
    for _ in 0..<2 {
      let client = try Client(server, from: "127.0.0.2")
      client.send(TestServer.inner)
      #expect(try client.response().status == 200)
      clients.append(client)
    }
    let beyond = try Client(server, from: "127.0.0.2")
    #expect(try beyond.rest() == "")
    let other = try Client(server, from: "127.0.0.3")
    other.send(TestServer.inner)
    #expect(try other.response().status == 200)
    clients.removeLast()
    let isAdmitted = try TestServer.waits {
      let client = try Client(server, from: "127.0.0.2")
      client.send(TestServer.get("/healthz", "Connection: close"))
      return try client.statuses() == [200]
    }
    #expect(isAdmitted)
  }

  @Test("behind a proxy, a client's requests are counted instead of its connections")
  func proxied() throws {
    let server = try TestServer(proxies: .local) { $0.connectionsPerAddress = 2 }
    func client(for address: String, _ target: String) throws -> Client {
      let client = try Client(server, buffer: 4096)
      client.send(TestServer.get(target, "X-Forwarded-For: \(address)"))
      return client
    }
    let busy = try (0..<2).map { _ in try client(for: "192.0.2.1", TestServer.large) }
    #expect(server.waits(forRequests: 2))
    let refused = try client(for: "192.0.2.1", TestServer.tile(1)).response()
    #expect(refused.status == 429)
    #expect(refused.fields["retry-after"] == "1")
    #expect(try client(for: "192.0.2.2", TestServer.tile(1)).response().text == "tile 1")
    for client in busy { #expect(try client.response().body.count == TestServer.largeSize) }
    let isAdmitted = try TestServer.waits {
      try client(for: "192.0.2.1", TestServer.tile(1)).response().status == 200
    }
    #expect(isAdmitted)
    #expect(try server.logLines(4).count { $0.contains(" 192.0.2.1 ") && $0.contains(" 429 ") } >= 1)
  }
}
