import Testing
import ZigguratHTTPMessages

struct ResponseConditionsTests {
  private static let whole = Response(
    200,
    [
      ("Content-Type", "image/jpeg"), ("ETag", "\"a\""), ("Cache-Control", "public, no-cache"),
      ("Access-Control-Allow-Origin", "https://example.org"), ("Vary", "Origin"),
    ], .bytes(Array(0..<10)))

  private static func conditions(_ headers: [String: String], isGet: Bool = true) -> OwnedConditions {
    OwnedConditions(isGet: isGet) { headers[$0] }
  }

  private static func bytes(_ response: Response) -> [UInt8]? {
    switch response.body {
    case .bytes(let bytes): bytes
    case .gathered(let bytes, let range): bytes.pieces(in: range).flatMap { Array($0) }
    case .stream, .lengthOnly, .omitted: nil
    }
  }

  @Test(
    "each condition has its status, body and part",
    arguments: [
      ([:], 200, Array(0..<10), nil), (["If-None-Match": "\"b\""], 200, Array(0..<10), nil),
      (["If-None-Match": "\"b\", W/\"a\""], 304, nil, nil), (["If-Match": "\"a\""], 200, Array(0..<10), nil),
      (["If-Match": "\"b\"", "If-None-Match": "\"a\""], 412, nil, nil),
      (["Range": "bytes=2-4"], 206, [2, 3, 4], "bytes 2-4/10"),
      (["Range": "bytes=-2", "If-Range": "\"a\""], 206, [8, 9], "bytes 8-9/10"),
      (["Range": "bytes=2-4", "If-Range": "\"b\""], 200, Array(0..<10), nil),
      (["Range": "bytes=10-"], 416, [], "bytes */10"), (["Range": "bytes=2-4,6-7"], 200, Array(0..<10), nil),
      (["Range": "bytes=2-4", "If-None-Match": "\"a\""], 304, nil, nil),
    ] as [([String: String], Int, [UInt8]?, String?)])
  func answers(headers: [String: String], status: Int, body: [UInt8]?, contentRange: String?) {
    let answer = Self.whole.answering(Self.conditions(headers))
    #expect(answer.status == status)
    #expect(answer["Content-Range"] == contentRange)
    if status != 412 { #expect(Self.bytes(answer) == body) }
    // What is kept of it, and by whom it is read, is said of every one of them.
    #expect(answer["Access-Control-Allow-Origin"] == "https://example.org" && answer["Vary"] == "Origin")
    #expect(answer["ETag"] == (status == 412 ? nil : "\"a\""))
    #expect(answer["Cache-Control"] == ([412, 416].contains(status) ? "no-store" : "public, no-cache"))
    #expect(answer["Accept-Ranges"] == (status == 412 ? nil : "bytes"))
    // Ranges count for GET alone.
    let head = Self.whole.answering(Self.conditions(headers, isGet: false))
    #expect(head.status == ([206, 416].contains(status) ? 200 : status))
  }

  @Test("conditions do not change a response other than 200", arguments: [201, 204, 303, 404, 500])
  func others(status: Int) {
    var response = Self.whole
    response.status = status
    let all = ["If-Match": "\"b\"", "If-None-Match": "\"a\"", "Range": "bytes=0-0"]
    let answer = response.answering(Self.conditions(all))
    #expect(answer.status == status && Self.bytes(answer) == Array(0..<10))
  }

  @Test("a range of a body in pieces is the range of the whole")
  func gathered() {
    let parts: [[UInt8]] = [[1, 2, 3], [], [4, 5]]
    let lent = parts.map { part in
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: part.count, alignment: 1)
      memory.copyBytes(from: part)
      return memory
    }
    defer { for memory in lent { memory.deallocate() } }
    let body = ScatterGatherBody(first: [9], parts: lent.map { UnsafeRawBufferPointer($0) }, keeping: [])
    let whole: [UInt8] = [0, 0, 0, 1, 9, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 2, 4, 5]
    #expect(body.count == whole.count)
    let response = Response(200, [], .gathered(body, 0..<body.count))
    for first in 0..<whole.count {
      for last in first..<whole.count {
        let answer = response.answering(Self.conditions(["Range": "bytes=\(first)-\(last)"]))
        #expect(answer.status == 206 && Self.bytes(answer) == Array(whole[first...last]))
      }
    }
  }

  // MARK: Pending responses

  private static func pending() -> Reply {
    var head = whole
    head.body = .omitted
    return .task(head: head) { whole }
  }

  @Test(
    "no task starts for a client that has the response or requires another version",
    arguments: [("If-None-Match", "\"a\"", 304), ("If-None-Match", "*", 304), ("If-Match", "\"b\"", 412)])
  func unmade(name: String, value: String, status: Int) {
    guard case .response(let response) = Self.pending().answering(Self.conditions([name: value])) else {
      Issue.record("a task is begun")
      return
    }
    #expect(response.status == status)
    if status == 304 { #expect(response.length == nil && response["ETag"] == "\"a\"") }
  }

  @Test func `conditions are applied to a pending response when it is ready`() async {
    let conditions = Self.conditions(["Range": "bytes=1-2", "If-None-Match": "\"b\""])
    let reply = Self.pending().map(\.withSecurityHeaders).answering(conditions)
    guard case .task = reply else {
      Issue.record("no task is begun")
      return
    }
    let response = await reply.response()
    #expect(response.status == 206 && Self.bytes(response) == [1, 2])
    #expect(response["X-Content-Type-Options"] == "nosniff")
  }
}
