import Synchronization
import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport

/// Writing into a store, as far as a store that answers by a script shows it; the rest shows a real one.
struct ObjectWriterTests {
  private typealias Scripted = FakeStore.Scripted

  private static func writer(_ server: FakeStore, _ parts: ObjectWriter.Parts = .init()) throws
    -> ObjectWriter
  {
    let environment = [
      "AWS_ENDPOINT_URL_S3": server.endpoint, "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "s",
    ]
    return ObjectWriter(
      ObjectAddress("s3://pictures/a_b")!, try ObjectSettings(environment) { _ in nil },
      parts: parts, limits: RequestLimits(tries: 3, pause: .milliseconds(1), silence: .seconds(30)))
  }

  private static let content = (0..<25_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  @Test func `digests are those of FIPS 180-4`() {
    #expect(SHA256.hexadecimal(SHA256.of([])) == RangeTransfer.emptyDigest)
    #expect(
      SHA256.hexadecimal(SHA256.of(Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func `a file is sent with its digest, again if the store was busy`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    let server = FakeStore(script: { number, _ in
      number == 0 ? Scripted(status: "503 Slow Down") : Scripted(fields: "ETag: \"x\"\r\n")
    })
    defer { server.stop() }
    let digest = SHA256.of(Self.content)
    let version = try Self.writer(server).put(file: path, sha256: digest, key: "a_b/c.szi")
    #expect(version == ObjectVersion(key: "a_b/c.szi", etag: "\"x\"", byteCount: Self.content.count))
    #expect(server.requests.count == 2)
    for request in server.requests {
      #expect(
        request.method == "PUT" && request.target == "/pictures/a_b/c.szi" && request.body == Self.content)
      #expect(request.fields["x-amz-content-sha256"] == SHA256.hexadecimal(digest))
      #expect(request.fields["authorization"]?.contains("x-amz-content-sha256") == true)
    }
  }

  @Test(
    "rejected requests and repeated errors are reported",
    arguments: [
      (Scripted(status: "400 Bad Request"), ObjectError.refused(400), 1),
      (Scripted(status: "403 Forbidden"), .refused(403), 1),
      (Scripted(status: "500 Internal Server Error"), .unavailable, 3),
      (Scripted(status: "200 OK"), .damaged, 1),
    ])
  func refusals(_ answer: FakeStore.Scripted, _ error: ObjectError, _ requests: Int) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    let server = FakeStore(script: { _, _ in answer })
    defer { server.stop() }
    #expect(throws: error) {
      _ = try Self.writer(server).put(file: path, sha256: SHA256.of(Self.content), key: "c")
    }
    #expect(server.requests.count == requests)
  }

  /// A store that takes uploads in parts.
  private static func parts(end: String) -> FakeStore {
    FakeStore(script: { number, request in
      switch (request.method, request.query) {
      case ("POST", "uploads="):
        Scripted(
          body: "<InitiateMultipartUploadResult><UploadId>u/1+=</UploadId></InitiateMultipartUploadResult>")
      case ("PUT", _): Scripted(fields: "ETag: \"p\(number)\"\r\n")
      case ("HEAD", _): Scripted(fields: "ETag: \"whole-3\"\r\nContent-Length: 25000\r\n", isHead: true)
      case ("DELETE", _): Scripted(status: "204 No Content")
      default: Scripted(body: end)
      }
    })
  }

  private static var smallParts: ObjectWriter.Parts {
    var parts = ObjectWriter.Parts()
    (parts.wholeAtMost, parts.byteCount) = (20_000, 10_000)
    return parts
  }

  @Test func `a large file is sent in parts, each with its digest`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    let end =
      "<CompleteMultipartUploadResult><ETag>&quot;whole-3&quot;</ETag></CompleteMultipartUploadResult>"
    let server = Self.parts(end: end)
    defer { server.stop() }
    let version = try Self.writer(server, Self.smallParts).put(
      file: path, sha256: SHA256.of(Self.content), key: "c")
    #expect(version == ObjectVersion(key: "c", etag: "\"whole-3\"", byteCount: 25_000))
    let sent = server.requests.filter { $0.method == "PUT" }
    #expect(sent.flatMap(\.body) == Self.content)
    #expect(sent.map(\.query) == (1...3).map { "partNumber=\($0)&uploadId=u%2F1%2B%3D" })
    #expect(sent.allSatisfy { $0.fields["x-amz-content-sha256"] == SHA256.hexadecimal(SHA256.of($0.body)) })
    let last = try #require(server.requests.last { $0.method == "POST" })
    #expect(last.query == "uploadId=u%2F1%2B%3D")
    #expect(
      String(decoding: last.body, as: UTF8.self).contains(
        "<Part><PartNumber>2</PartNumber><ETag>&quot;p2&quot;</ETag></Part>"))
  }

  @Test func `parts of a failed upload are removed`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("a", Self.content)
    let end = "<Error><Code>InternalError</Code></Error>"
    for (digest, end) in [(SHA256.of([]), ""), (SHA256.of(Self.content), end)] {
      let server = Self.parts(end: end)
      defer { server.stop() }
      #expect(throws: ObjectError.damaged) {
        _ = try Self.writer(server, Self.smallParts).put(file: path, sha256: digest, key: "c")
      }
      #expect(server.requests.last?.method == "DELETE")
      #expect(
        server.requests.contains { $0.query == "uploadId=u%2F1%2B%3D" && $0.method == "POST" } == !end.isEmpty
      )
    }
  }

  @Test func `the number of parts is within the limit of stores`() {
    let parts = ObjectWriter.Parts()
    for count in [1 << 30 + 1, 5 << 40] {
      let ranges = parts.ranges(count)
      #expect(ranges.count <= 10_000 && ranges.first?.lowerBound == 0 && ranges.last?.upperBound == count)
      #expect(
        zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound && $0.count >= 64 << 20 })
    }
  }

  private static func page(_ objects: String) -> String {
    "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>n</Name>"
      + "\(objects)</ListBucketResult>"
  }

  @Test func `a list is requested from the last key and read to its end`() throws {
    let xml = Self.page(
      "<Contents><Key>a_b/1</Key><ETag>&quot;x&quot;</ETag><Size>7</Size><Owner><ID>z</ID></Owner></Contents>"
        + "<Contents><Size>0</Size><ETag>y</ETag><Key>a_b/2</Key></Contents>")
    let server = FakeStore(script: { _, _ in Scripted(body: xml) })
    defer { server.stop() }
    #expect(
      try Self.writer(server).list(after: Array("a_b/0".utf8)).versions == [
        ObjectVersion(key: "a_b/1", etag: "\"x\"", byteCount: 7),
        ObjectVersion(key: "a_b/2", etag: "\"y\"", byteCount: 0),
      ])
    #expect(
      server.requests[0].target
        == "/pictures?encoding-type=url&list-type=2&max-keys=1000&prefix=a_b%2F&start-after=a_b%2F0")
    #expect(throws: ObjectError.damaged) { _ = try Self.writer(server).list(after: Array("a_b/1".utf8)) }
  }

  @Test(arguments: [("false", 1), ("true", 2), (nil, 2), ("False", 2), ("", 2)])
  func `a list ends at the end flag, or at an empty page`(said: String?, requests: Int) throws {
    let truncated = said.map { "<IsTruncated>\($0)</IsTruncated>" } ?? ""
    let object = "<Contents><Key>a_b/1</Key><ETag>x</ETag><Size>7</Size></Contents>"
    let server = FakeStore(script: { _, request in
      Scripted(body: Self.page(request.target.contains("start-after") ? "" : truncated + object))
    })
    defer { server.stop() }
    #expect(try Self.writer(server).all(atMost: 10).map(\.key) == ["a_b/1"])
    #expect(server.requests.count == requests)
  }

  /// The key behind which a list was asked for, and the token.
  private static func position(_ request: FakeStore.Request) -> [String] {
    request.query.split(separator: "&").map(String.init).filter {
      $0.hasPrefix("start-after=") || $0.hasPrefix("continuation-token=")
    }
  }

  @Test func `an empty truncated page is continued by its token`() throws {
    func object(_ name: String) -> String {
      "<Contents><Key>a_b/\(name)</Key><ETag>x</ETag><Size>7</Size></Contents>"
    }
    func more(_ token: String) -> String {
      "<IsTruncated>true</IsTruncated><NextContinuationToken>\(token)</NextContinuationToken>"
    }
    let answers = [
      [String](): more("zero"), ["continuation-token=zero"]: more("1") + object("1"),
      ["start-after=a_b%2F1"]: more("t+/=&amp;%20"),
      ["continuation-token=t%2B%2F%3D%26%2520", "start-after=a_b%2F1"]: more("3"),
      ["continuation-token=3", "start-after=a_b%2F1"]: "<IsTruncated>false</IsTruncated>" + object("2"),
    ]
    let server = FakeStore(script: { _, request in
      Scripted(body: Self.page(answers[Self.position(request)] ?? "<Unexpected>"))
    })
    defer { server.stop() }
    #expect(try Self.writer(server).all(atMost: 10).map(\.key) == ["a_b/1", "a_b/2"])
    #expect(server.requests.count == 5)
    #expect(try Self.writer(server).list(after: nil).versions.map(\.key) == ["a_b/1"])
  }

  @Test(
    arguments: [
      ("true", "", 2), ("True", "", 2), ("true", "<NextContinuationToken></NextContinuationToken>", 2),
      ("true", "<NextContinuationToken>same</NextContinuationToken>", 3),
    ])
  func `an empty truncated page without a new token is no end of the list`(
    said: String, token: String, requests: Int
  ) throws {
    let object = "<Contents><Key>a_b/1</Key><ETag>x</ETag><Size>7</Size></Contents>"
    let server = FakeStore(script: { _, request in
      let rest = request.query.contains("start-after") ? token : object
      return Scripted(body: Self.page("<IsTruncated>\(said)</IsTruncated>" + rest))
    })
    defer { server.stop() }
    #expect(throws: ObjectError.damaged) { _ = try Self.writer(server).all(atMost: 10) }
    #expect(server.requests.count == requests)
  }

  @Test func `a list of empty pages alone ends`() throws {
    let server = FakeStore(script: { number, _ in
      Scripted(
        body: Self.page(
          "<IsTruncated>true</IsTruncated><NextContinuationToken>\(number)</NextContinuationToken>"))
    })
    defer { server.stop() }
    #expect(throws: ObjectError.damaged) { _ = try Self.writer(server).all(atMost: 10) }
    #expect(server.requests.count == 1001)
  }

  @Test func `keys are decoded only if the store declares them encoded`() throws {
    let objects = ["a_b/a+%2B%20%C3%A9", "a_b/b%2526"].map {
      "<Contents><Key>\($0)</Key><ETag>x</ETag><Size>7</Size></Contents>"
    }.joined()
    for (said, keys) in [
      ("<EncodingType>url</EncodingType>", ["a_b/a + é", "a_b/b%26"]),
      ("", ["a_b/a+%2B%20%C3%A9", "a_b/b%2526"]),
    ] {
      for xml in [said + objects, objects + said] {
        let server = FakeStore(script: { _, _ in Scripted(body: Self.page(xml)) })
        defer { server.stop() }
        #expect(try Self.writer(server).list(after: nil).versions.map(\.key) == keys)
      }
    }
  }

  @Test(
    arguments: ["9000000000000000000", "99999999999999999999", "-7", "many", "", "0x7", "1e3"])
  func `an object with an invalid size does not hide the others`(size: String) throws {
    func object(_ key: String, _ size: String, etag: String = "<ETag>x</ETag>") -> String {
      "<Contents><Key>\(key)</Key>\(etag)<Size>\(size)</Size></Contents>"
    }
    let xml = Self.page(
      object("a_b/1", "7") + object("a_b/2", size) + object("a_b/3", "8") + object("a_b/4", "9", etag: ""))
    let server = FakeStore(script: { _, _ in Scripted(body: xml) })
    defer { server.stop() }
    let page = try Self.writer(server).list(after: nil)
    #expect(page.versions.map(\.key) == ["a_b/1", "a_b/3"])
    #expect(page.strayKeys == ["a_b/2", "a_b/4"].map { Array($0.utf8) })
    #expect(page.lastKey == Array("a_b/4".utf8))
  }

  @Test(
    "other XML is no list",
    arguments: [
      "", "<html></html>", "<ListBucketResult>", page("<Contents><ETag>x</ETag><Size>7</Size></Contents>"),
      page(
        "<EncodingType>url</EncodingType><Contents><Key>a_b/%F</Key><ETag>x</ETag><Size>7</Size></Contents>"),
      page("<Contents><Key>other/1</Key><ETag>x</ETag><Size>7</Size></Contents>"),
      "<!DOCTYPE a [<!ENTITY b \"c\">]>" + page("<Contents><Key>&b;</Key></Contents>"),
    ])
  func noLists(_ xml: String) throws {
    let server = FakeStore(script: { _, _ in Scripted(body: xml) })
    defer { server.stop() }
    #expect(throws: ObjectError.damaged) { _ = try Self.writer(server).list(after: nil) }
  }

  @Test func `removing an object succeeds if it is already gone`() throws {
    let server = FakeStore(script: { _, request in
      Scripted(status: request.path.hasSuffix("gone") ? "404 Not Found" : "204 No Content")
    })
    defer { server.stop() }
    let writer = try Self.writer(server)
    try writer.remove("a_b/there")
    try writer.remove("a_b/gone")
    #expect(server.requests.map(\.method) == ["DELETE", "DELETE"])
  }
}
