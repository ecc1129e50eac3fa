import Glibc
import Testing

@testable import ZigguratHTTPServer

/// Time limits of requests, answers and idle connections. Each test waits for the end of a connection, however long
/// that takes, while the other limits are longer than the test.
@Suite struct DeadlineTests {
  @Test("a client that sends its headers too slowly is disconnected", arguments: [false, true])
  func slowHeaders(isFirst: Bool) throws {
    let server = try TestServer { $0.requestDeadline = 2 }
    let client = try Client(server)
    if !isFirst {
      client.send(TestServer.inner)
      #expect(try client.response().status == 200)
    }
    client.send("GET /healthz HTTP/1.1\r\nX-A: ")
    #expect(client.sendsUntilCut("a"))
    #expect(try client.statuses() == [])
    #expect(server.waits(forConnections: 0))
  }

  @Test("a client that sends its body too slowly is disconnected", arguments: [false, true])
  func slowBody(isChunked: Bool) throws {
    let server = try TestServer { $0.requestDeadline = 2 }
    let client = try Client(server)
    client.send(
      "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + (isChunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: 5000\r\n\r\n"))
    #expect(client.sendsUntilCut(isChunked ? "1\r\na\r\n" : "a"))
    #expect(try client.statuses() == [])
    #expect(server.waits(forConnections: 0))
  }

  @Test("a client that reads its response too slowly is disconnected")
  func slowReader() throws {
    let server = try TestServer { $0.answerDeadline = 1 }
    let client = try Client(server, buffer: 4096)
    client.send(TestServer.get(TestServer.large))
    // A response that was cut off is logged all the same.
    #expect(try server.logLines(1).first?.contains(" 200 ") == true)
    #expect(server.waits(forConnections: 0))
    #expect(try client.rest().utf8.count < TestServer.largeSize)
  }

  @Test("a response has its own timeout, longer than that of a request")
  func answerTime() throws {
    let server = try TestServer { $0.requestDeadline = 2 }
    let client = try Client(server, buffer: 4096)
    client.send(TestServer.get(TestServer.large))
    // Two sweeps after the time of a request is over.
    usleep(3_200_000)
    let response = try client.response()
    #expect(response.status == 200)
    #expect(response.body.count == TestServer.largeSize)
  }

  @Test("an idle connection is closed without a response")
  func idle() throws {
    let server = try TestServer { $0.idleTimeout = 2 }
    let (silent, client) = (try Client(server), try Client(server))
    client.send(TestServer.inner)
    #expect(try client.response().text == "tile 0")
    #expect(try client.rest() == "")
    #expect(try silent.rest() == "")
    #expect(server.waits(forConnections: 0))
  }

  @Test("if descriptors run out, the connections idle longest are closed, and no busy one")
  func closeIdle() throws {
    let server = try TestServer()
    let busy = try Client(server, buffer: 4096)
    busy.send(TestServer.get(TestServer.large))
    #expect(server.waits(forRequests: 1))
    var idle: [Client] = []
    for number in 0..<4 {
      let client = try Client(server)
      client.send(TestServer.get(TestServer.tile(number)))
      #expect(try client.response().text == "tile \(number)")
      idle.append(client)
      // Longer than the clock of the deadlines takes for a tick.
      usleep(20_000)
    }
    // The server may not know yet that the last response is sent.
    #expect(
      TestServer.waits { server.openConnections.count { $0.isIdle.load(ordering: .relaxed) } == 4 })
    #expect(server.server.context.connections.closeIdle() == 2)
    for client in idle[..<2] { #expect(try client.rest() == "") }
    for client in idle[2...] {
      client.send(TestServer.inner)
      #expect(try client.response().text == "tile 0")
    }
    #expect(try busy.response().body.count == TestServer.largeSize)
  }
}
