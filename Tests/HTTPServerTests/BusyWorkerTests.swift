import Dispatch
import Testing
import ZigguratConcurrency

@testable import ZigguratHTTPServer

/// Requests with bodies while the threads that handle them are busy.
@Suite struct BusyWorkerTests {
  /// A queue whose threads are busy, and in which nothing has room, until `end` is called.
  private final class Jam: Sendable {
    private let flag = OneShotEvent()

    /// - Parameter isFull: whether also the places of the queue are taken.
    init(_ queue: ThreadPool, isFull: Bool) {
      let started = DispatchSemaphore(value: 0)
      for _ in 0..<4 {
        let isTaken = queue.submit(always: true) { [flag] in
          started.signal()
          flag.wait(upTo: 60)
        }
        #expect(isTaken)
      }
      for _ in 0..<4 { started.wait() }
      guard isFull else { return }
      while queue.submit({}) {}
    }

    func end() { flag.set() }
  }

  private static let creation =
    "POST /api/uploads HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    + "Authorization: Bearer \(TestServer.token)\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 5\r\n"

  @Test func `an upload does not wait for pending changes`() throws {
    let server = try TestServer(takesUploads: true)
    let jam = Jam(server.tileServer.editWorkers, isFull: false)
    defer { jam.end() }
    let client = try Client(server)
    client.send(Self.creation + "Content-Length: 0\r\n\r\n")
    #expect(try client.statuses() == [201])
    let upload = try #require(server.uploads?.all.first)
    let second = try Client(server)
    second.send(
      "DELETE /api/uploads/\(upload.id) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Authorization: Bearer \(TestServer.token)\r\nTus-Resumable: 1.0.0\r\n\r\n")
    #expect(try second.statuses() == [204])
  }

  @Test func `a rejected upload is removed by the next free worker`() throws {
    let server = try TestServer(takesUploads: true)
    let jam = Jam(server.tileServer.uploadWorkers, isFull: true)
    let client = try Client(server)
    client.send(
      Self.creation + "Content-Type: application/offset+octet-stream\r\nContent-Length: 5\r\n\r\nbytes")
    #expect(try client.statuses() == [503])
    // Only a worker removes it, and all of them are busy.
    #expect(server.uploads?.all.count == 1)
    jam.end()
    #expect(TestServer.waits { server.uploads?.all.isEmpty == true })
  }
}
