import Testing
import TileStorage

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// Requests that are signed once for all parts of a version.
struct SignedReadTests {
  private static let other = ObjectVersion(key: "szi/b", etag: FakeStore.etag, byteCount: 50_000)
  private static let request = """
    GET /pictures/szi/a HTTP/1.1\r\nHost: h\r\nX-Amz-Date: 20261125T100000Z\r\nAUTHORIZATION:  AWS4 a:b, c=d\r\n\r\n
    """

  private static func read(_ request: String = request) -> SignedRead? {
    Array(request.utf8).withUnsafeBytes { SignedRead(url: "u", sent: $0) }
  }

  @Test func `ranges of one version share a signature, other versions do not`() throws {
    let object = ObjectClientTests.object
    let server = FakeStore([ObjectClientTests.path: object, "/pictures/szi/b": object])
    defer { server.stop() }
    let client = try ObjectClientTests.client(server, key: "K")
    for range in [0..<9, 9..<4000, 49_000..<50_000] {
      for version in [ObjectClientTests.version, Self.other] {
        #expect(ObjectClientTests.read(client, range, of: version) == .success(Array(object[range])))
      }
    }
    for path in [ObjectClientTests.path, "/pictures/szi/b"] {
      let requests = server.requests.filter { $0.target == path }
      #expect(Set(requests.map { $0.fields["range"] }).count == 3)
      // All that the signature is of, and itself.
      for field in [
        "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "if-match", "host",
      ] {
        #expect(requests[0].fields[field] != nil, "\(field)")
        #expect(Set(requests.map { $0.fields[field] }).count == 1, "\(field)")
      }
    }
    #expect(Set(server.requests.map { $0.fields["authorization"] }).count == 2)
    // The range is not, or no store would take it.
    let names = server.requests[0].fields["authorization"]?.split(separator: "SignedHeaders=").last?
      .split(separator: ",").first
    #expect(names == "host;if-match;x-amz-content-sha256;x-amz-date;x-amz-security-token")
  }

  @Test func `a signature expires, or ends if the store rejects it`() throws {
    let (version, now) = (ObjectClientTests.version, ContinuousClock.now)
    let read = try #require(Self.read())
    var reads = SignedReads(lifetime: .seconds(60))
    #expect(reads.read(of: version, at: now) == nil)
    reads.note(read, of: version, isTaken: true, at: now)
    #expect(reads.read(of: version, at: now + .seconds(59))?.authorization == "AWS4 a:b, c=d")
    #expect(reads.read(of: Self.other, at: now) == nil)
    // Used again it does not last longer.
    reads.note(nil, of: version, isTaken: true, at: now + .seconds(59))
    #expect(reads.read(of: version, at: now + .seconds(60)) == nil)
    reads.note(read, of: version, isTaken: true, at: now)
    reads.note(nil, of: version, isTaken: false, at: now)
    #expect(reads.read(of: version, at: now) == nil)
    reads.note(read, of: version, isTaken: false, at: now)
    #expect(reads.read(of: version, at: now) == nil)
  }

  @Test(arguments: [1, 2], ["401 Unauthorized", "403 Forbidden"])
  func `a read rejected with a reused signature is repeated once with a new one`(
    refusals: Int, status: String
  ) throws {
    let server = FakeStore(script: { number, _ in
      if (1...refusals).contains(number) { return FakeStore.Scripted(status: status) }
      return FakeStore.Scripted(
        status: "206 Partial Content",
        fields: "ETag: \(FakeStore.etag)\r\nContent-Range: bytes 0-1/50000\r\n", body: "ab")
    })
    defer { server.stop() }
    let client = try ObjectClientTests.client(server, key: "K")
    #expect(ObjectClientTests.read(client, 0..<2) == .success(Array("ab".utf8)))
    let second = ObjectClientTests.read(client, 0..<2)
    #expect(
      second == (refusals == 1 ? .success(Array("ab".utf8)) : .failure(.refused(Int(status.prefix(3))!))))
    #expect(server.requests.count == 3)
    // One that libcurl has just signed is refused for what it is.
    #expect(ObjectClientTests.read(client, 0..<2) == .success(Array("ab".utf8)))
    #expect(server.requests.count == 4)
  }

  @Test func `the signature is parsed from the sent request, whole or not at all`() throws {
    let read = try #require(Self.read())
    #expect(read.url == "u" && read.date == "20261125T100000Z" && read.authorization == "AWS4 a:b, c=d")
    #expect(Self.read("") == nil && Self.read("GET / HTTP/1.1\r\n\r\n") == nil)
    #expect(Self.read(Self.request.replacing("X-Amz-Date", with: "Date")) == nil)
    #expect(Self.read(Self.request.replacing("AUTHORIZATION", with: "Proxy-Authorization")) == nil)
  }
}
