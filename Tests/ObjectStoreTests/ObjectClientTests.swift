import Glibc
import Synchronization
import Testing
import TileStorage
import ZigguratConcurrency
import ZigguratTestSupport

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// Reading from a store that may lie, over sockets.
struct ObjectClientTests {
  static let object = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
  static let path = "/pictures/szi/a"
  static let version = ObjectVersion(key: "szi/a", etag: FakeStore.etag, byteCount: object.count)

  /// One call at a time, never cut off and without the pauses that wait for better times.
  static var policy: RequestPolicy {
    var policy = RequestPolicy()
    policy.breaker = CircuitBreaker(share: 2)
    policy.pause = .milliseconds(1)
    return policy
  }

  static func client(
    _ server: FakeStore, _ policy: RequestPolicy = policy, key: String? = nil
  ) throws -> ObjectClient {
    var environment = ["AWS_ENDPOINT_URL_S3": server.endpoint]
    if let key {
      environment.merge(["AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"]) {
        $1
      }
    }
    let settings = try ObjectSettings(environment) { _ in nil }
    return try #require(ObjectClient(ObjectAddress("s3://pictures/szi")!, settings, policy))
  }

  /// Waits for the result of `ask`, whose callback must be called once.
  static func result<Value: Sendable>(_ ask: (@escaping @Sendable (Value) -> Void) -> Void) -> Value {
    let result = Mutex<Value?>(nil)
    let flag = OneShotEvent()
    ask { value in
      result.withLock { result in
        precondition(result == nil, "called once")
        result = value
      }
      flag.set()
    }
    while !flag.isSet { flag.wait(upTo: 60) }
    return result.withLock { $0! }
  }

  static func read(
    _ client: ObjectClient, _ range: Range<Int>, of version: ObjectVersion = version,
    within time: Duration = .seconds(30)
  ) -> Result<[UInt8], ObjectError> {
    result { client.read(version, range, by: .now + time, $0) }.map { Array($0.bytes) }
  }

  static func readEnd(_ client: ObjectClient, key: String = version.key, _ count: Int) -> Result<
    ObjectTail, ObjectError
  > {
    result { client.readEnd(ofKey: key, atMost: count, by: .now + .seconds(30), $0) }
  }

  @Test func `ranges and tails are those of the object`() throws {
    let server = FakeStore([Self.path: Self.object])
    defer { server.stop() }
    let client = try Self.client(server, key: "K")
    for range in [0..<1, 49_999..<50_000, 0..<50_000, 123..<4567] {
      #expect(Self.read(client, range) == .success(Array(Self.object[range])))
    }
    for count in [1, 300, 50_000, 60_000] {
      let end = try Self.readEnd(client, count).get()
      #expect(end.version == Self.version && Array(end.bytes.bytes) == Self.object.suffix(count))
    }
    let first = try #require(server.requests.first)
    #expect(
      first.method == "GET" && first.target == Self.path && first.fields["if-match"] == FakeStore.etag)
    #expect(first.fields["x-amz-content-sha256"] == RangeTransfer.emptyDigest)
    #expect(first.fields["x-amz-security-token"] == "t")
    #expect(first.fields["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=K/") == true)
    #expect(first.fields["authorization"]?.contains("/us-east-1/s3/aws4_request") == true)
    #expect(client.counts.requests == 8 && client.counts.errors == 0 && client.counts.retries == 0)
  }

  @Test func `without credentials nothing is signed`() throws {
    let server = FakeStore([Self.path: Self.object])
    defer { server.stop() }
    #expect(try Self.read(Self.client(server), 5..<9) == .success(Array(Self.object[5..<9])))
    #expect(server.requests[0].fields["authorization"] == nil)
  }

  @Test func `missing objects and other versions are reported without a retry`() throws {
    let server = FakeStore([Self.path: Self.object])
    defer { server.stop() }
    let client = try Self.client(server)
    #expect(
      Self.read(client, 0..<9, of: ObjectVersion(key: "szi/b", etag: "\"e1\"", byteCount: 9))
        == .failure(.missing))
    #expect(
      Self.read(client, 0..<9, of: ObjectVersion(key: "szi/a", etag: "\"e0\"", byteCount: 50_000))
        == .failure(.otherVersion))
    #expect(
      Self.read(client, 0..<9, of: ObjectVersion(key: "szi/a", etag: "\"e1\"", byteCount: 60_000))
        == .failure(.otherVersion))
    #expect(
      Self.read(client, 60_000..<60_009, of: ObjectVersion(key: "szi/a", etag: "\"e1\"", byteCount: 70_000))
        == .failure(.otherVersion))
    #expect(server.requests.count == 4)
  }

  /// Returns the error of a false response; nil if it looks right without a checksum.
  private static func error(_ answer: FakeStore.Answer) -> ObjectError? {
    switch answer {
    case .honest, .flipped, .shifted: nil
    case .cut, .shortChunks, .closed: .cut
    case .otherETag: .otherVersion
    case .otherRange, .whole, .noETag, .noRange, .encoded, .twoETags, .garbage, .otherLength: .damaged
    case .busy, .silent: .unavailable
    case .missing: .missing
    // Those that were asked for came, and what comes behind them is nobody's.
    case .tooLong: nil
    }
  }

  @Test("each false response is an error of its kind", arguments: FakeStore.Answer.allCases)
  func lies(_ answer: FakeStore.Answer) throws {
    let server = FakeStore([Self.path: Self.object]) { _, _ in answer }
    defer { server.stop() }
    var policy = Self.policy
    policy.tries = 1
    policy.attempt = .milliseconds(200)
    let client = try Self.client(server, policy)
    let read = Self.read(client, 1000..<3000)
    if let error = Self.error(answer) {
      #expect(read == .failure(error))
    } else {
      #expect((try? read.get().count) == 2000)
    }
    #expect(server.requests.count == 1)
  }

  @Test func `temporary errors are retried up to a limit`() throws {
    let answers: [FakeStore.Answer] = [.busy, .cut, .honest, .cut, .whole, .garbage, .honest]
    let server = FakeStore([Self.path: Self.object]) { number, _ in answers[number] }
    defer { server.stop() }
    let client = try Self.client(server)
    #expect(Self.read(client, 0..<100) == .success(Array(Self.object[..<100])))
    #expect(Self.read(client, 0..<100) == .failure(.damaged))
    #expect(server.requests.count == 6)
    #expect(client.counts.retries == 4 && client.counts.errors == 5 && client.counts.bytes == 100)
  }

  @Test func `retries are limited to a tenth of the traffic`() throws {
    let server = FakeStore([Self.path: Self.object]) { _, _ in .busy }
    defer { server.stop() }
    let client = try Self.client(server)
    for _ in 0..<400 { #expect(Self.read(client, 0..<10) == .failure(.unavailable)) }
    #expect(server.requests.count <= 400 + 40 + 20)
  }

  @Test func `a silent store times out, and a stopped one fails at once`() throws {
    let server = FakeStore([Self.path: Self.object]) { _, _ in .silent }
    let client = try Self.client(server)
    #expect(Self.read(client, 0..<10, within: .milliseconds(300)) == .failure(.unavailable))
    server.stop()
    #expect(Self.read(client, 0..<10) == .failure(.unavailable))
  }

  @Test func `an unresponsive store is not asked until it responds again`() throws {
    let isBusy = Mutex(true)
    let server = FakeStore([Self.path: Self.object]) { _, _ in isBusy.withLock { $0 } ? .busy : .honest }
    defer { server.stop() }
    var policy = Self.policy
    policy.tries = 1
    policy.breaker = CircuitBreaker(rest: .milliseconds(50))
    let client = try Self.client(server, policy)
    for _ in 0..<20 { _ = Self.read(client, 0..<10) }
    #expect(client.isCutOff && server.requests.count == 20)
    isBusy.withLock { $0 = false }
    while Self.read(client, 0..<10) == .failure(.unavailable) { usleep(1000) }
    #expect(!client.isCutOff && server.requests.count == 21)
  }

  @Test func `the number of waiting requests is limited`() throws {
    let gate = OneShotEvent()
    let server = FakeStore([Self.path: Self.object]) { _, _ in
      gate.wait(upTo: 60)
      return .honest
    }
    defer { server.stop() }
    var policy = Self.policy
    policy.waiting = 3
    policy.whole = .seconds(60)
    policy.attempt = .seconds(60)
    let client = try Self.client(server, policy)
    let results = Mutex<[Result<[UInt8], ObjectError>]>([])
    let (early, all) = (CountingSemaphore(), CountingSemaphore())
    for number in 0..<5 {
      client.read(Self.version, number..<number + 1, by: .now + .seconds(60)) { result in
        results.withLock { $0.append(result.map { Array($0.bytes) }) }
        (number < 3 ? all : early).signal()
      }
    }
    for _ in 0..<2 { early.wait() }
    #expect(
      results.withLock { $0 } == [.failure(.unavailable), .failure(.unavailable)])
    gate.set()
    for _ in 0..<3 { all.wait() }
    #expect(results.withLock { $0.filter { (try? $0.get()) != nil }.count } == 3)
    #expect(Self.read(client, 7..<8) == .success([Self.object[7]]))
  }

  @Test func `a client that ends completes waiting requests`() throws {
    let server = FakeStore([Self.path: Self.object]) { _, _ in .silent }
    defer { server.stop() }
    var client: ObjectClient? = try Self.client(server)
    let result: Result<ObjectBytes, ObjectError> = Self.result { done in
      client?.read(Self.version, 0..<1, by: .now + .seconds(60), done)
      client = nil
    }
    #expect(throws: ObjectError.unavailable) { try result.get() }
  }
}
