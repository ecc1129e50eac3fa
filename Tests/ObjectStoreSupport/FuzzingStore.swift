import Glibc
import Synchronization
import ZigguratHTTPMessages
import ZigguratObjectStore
import ZigguratTestSupport

/// An object store in memory that answers as S3 does, or breaks the rules that its generator draws.
final class FuzzingStore: Sendable {
  struct Object: Sendable {
    var body: [UInt8]
    var etag: String
  }

  struct State {
    var objects: [[UInt8]: Object] = [:]
    var random: SplitMix
    /// The share of requests that get a false response, 0...1.
    var mischief = 0.0
    /// The kind of false response to each request; nil for random kinds.
    var always: Mischief?
    /// Kinds of mischief that were done.
    var done: [Mischief: Int] = [:]
    var number = 0
    /// Keys of one page of a list.
    var pageSizes = 1...6
  }

  enum Mischief: CaseIterable {
    case status, redirect, page, cut, shortLength, longLength, flipped, otherTag, noTag, oddTag, drip,
      silence, closed
    case garbage, endlessHeaders, encoded, shortChunks, listLies, listNoise
    /// A rewritten directory that is lost, or stored with an error.
    case lost, spoiled
  }

  static let bucket = "pictures"
  private let state: Mutex<State>
  private let server = Mutex<FakeStore?>(nil)

  init(_ random: SplitMix) {
    state = Mutex(State(random: random))
    let made = FakeStore(raw: { [weak self] in self?.answer($0) ?? FakeStore.Raw(closes: true) })
    server.withLock { $0 = made }
  }

  var endpoint: String { server.withLock { $0!.endpoint } }

  func stop() { server.withLock { $0 }?.stop() }

  func with<Result>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }

  func put(_ key: [UInt8], _ body: [UInt8]) {
    with { state in
      state.number += 1
      state.objects[key] = Object(body: body, etag: "\"e\(state.number)\"")
    }
  }

  var keys: Set<[UInt8]> { with { Set($0.objects.keys) } }

  // MARK: Answers

  private struct Answer {
    var status = "200 OK"
    var fields: [String] = []
    var etag: String?
    var body: [UInt8] = []
    var hasBody = true
  }

  private func answer(_ request: FakeStore.Request) -> FakeStore.Raw {
    with { state in
      let isBad = Double.random(in: 0..<1, using: &state.random) < state.mischief
      let mischief = state.always ?? (isBad ? Mischief.allCases.randomElement(using: &state.random) : nil)
      if let mischief { state.done[mischief, default: 0] += 1 }
      return Self.wire(Self.honest(request, &state, mischief), mischief, &state)
    }
  }

  private static func honest(
    _ request: FakeStore.Request, _ state: inout State, _ mischief: Mischief?
  ) -> Answer {
    let path = PercentEncoding.decode(Array(request.path.utf8).dropFirst(), allowsNUL: true) ?? []
    let parts = path.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.first.map({ $0.elementsEqual(bucket.utf8) }) == true else {
      return Answer(status: "404 Not Found")
    }
    let key = parts.count > 1 ? Array(parts[1]) : []
    switch request.method {
    case "PUT":
      guard SHA256.hexadecimal(SHA256.of(request.body)) == request.fields["x-amz-content-sha256"] else {
        return Answer(status: "400 Bad Request")
      }
      state.number += 1
      var object = Object(body: request.body, etag: "\"e\(state.number)\"")
      // Nobody but a reader can notice; a rewritten directory is read back.
      if key.suffix(6).elementsEqual("-whole".utf8), mischief == .lost || mischief == .spoiled {
        if mischief == .lost { return Answer(etag: object.etag) }
        object.body[object.body.count / 2] ^= 1
      }
      state.objects[key] = object
      return Answer(etag: object.etag)
    case "DELETE":
      state.objects[key] = nil
      return Answer(status: "204 No Content", hasBody: false)
    default:
      if key.isEmpty { return Answer(body: list(request.query, &state, mischief)) }
      guard let object = state.objects[key] else { return Answer(status: "404 Not Found") }
      if let condition = request.fields["if-match"], condition != object.etag {
        return Answer(status: "412 Precondition Failed")
      }
      if request.method == "HEAD" {
        let date = "Last-Modified: Thu, 01 Jan 1970 00:00:10 GMT"
        return Answer(
          fields: [date, "Content-Length: \(object.body.count)"], etag: object.etag, hasBody: false)
      }
      guard let range = FakeStore.range(request, object.body.count) else {
        return Answer(status: "416 Range Not Satisfiable")
      }
      let place = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(object.body.count)"
      return Answer(
        status: "206 Partial Content", fields: [place], etag: object.etag, body: Array(object.body[range]))
    }
  }

  private static func list(_ query: String, _ state: inout State, _ mischief: Mischief?) -> [UInt8] {
    var values: [String: [UInt8]] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      values[String(parts[0])] = PercentEncoding.decode(Array(parts[1].utf8), allowsNUL: true)
    }
    let (prefix, after) = (values["prefix"] ?? [], values["start-after"] ?? [])
    let every = state.objects.keys.filter { $0.starts(with: prefix) && after.lexicographicallyPrecedes($0) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let count = Int.random(in: state.pageSizes, using: &state.random)
    var items = every.prefix(count).map { key -> String in
      let object = state.objects[key]!
      return item(PercentEncoding.encode(bytes: key), object.etag, "\(object.body.count)")
    }
    var isLast = every.count <= count
    if mischief == .listLies {
      switch Int.random(in: 0..<8, using: &state.random) {
      case 0: items.append(item("elsewhere/x", "\"e\"", "1"))
      case 1: items.append(item(PercentEncoding.encode(bytes: prefix) + "z", "\"e\"", "-5"))
      case 2: items.append(items.first ?? item("", "", ""))
      case 3: items = items.reversed() + items
      // On the last page only: nobody could notice that a list ends too early.
      case 4 where isLast:
        let name = PercentEncoding.encode(bytes: prefix) + "7999999999999-\(state.number)"
        items.append(item(name, "\"e\"", "16106127360"))
      case 5: items.append(item(PercentEncoding.encode(bytes: prefix) + "%ZZ", "\"e\"", "1"))
      case 6: (items, isLast) = ([], false)
      default:
        items.append(item(PercentEncoding.encode(bytes: prefix) + "7999999999999-1", "\"e&#10;X: y\"", "9"))
      }
    }
    let xml =
      "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>\(!isLast)</IsTruncated>"
      + items.joined() + "</ListBucketResult>"
    var bytes = Array(xml.utf8)
    if mischief == .listNoise {
      for _ in 0..<Int.random(in: 1...8, using: &state.random) {
        let at = Int.random(in: 0..<bytes.count, using: &state.random)
        switch Int.random(in: 0..<3, using: &state.random) {
        // A digit that is another one may stand for another object's size or key: nobody could notice.
        case 0: bytes[at] = [0x00, 0x3c, 0xff, 0x26].randomElement(using: &state.random)!
        case 1: bytes.removeSubrange(at...)
        default: bytes.insert(contentsOf: Array("<!DOCTYPE x>".utf8), at: at)
        }
        if bytes.isEmpty { bytes = [0x3c] }
      }
    }
    return bytes
  }

  private static func item(_ key: String, _ etag: String, _ size: String) -> String {
    let tag = etag.replacing("\"", with: "&quot;")
    return "<Contents><Key>\(key)</Key><ETag>\(tag)</ETag><Size>\(size)</Size></Contents>"
  }

  private static func wire(_ honest: Answer, _ mischief: Mischief?, _ state: inout State) -> FakeStore.Raw {
    var (answer, length): (Answer, Int?) = (honest, nil)
    var raw = FakeStore.Raw()
    switch mischief {
    case .status:
      answer = Answer(
        status: [
          "500 Oops", "503 Slow Down", "403 Forbidden", "429 Many", "404 Not Found", "999 What", "206 Part",
        ]
        .randomElement(using: &state.random)!, body: Array("why?".utf8))
    case .redirect:
      answer = Answer(status: "307 Elsewhere", fields: ["Location: http://127.0.0.1:9/x"])
    case .page: answer = Answer(body: Array("<html><body>Log in</body></html>".utf8))
    case .shortLength: length = max(0, answer.body.count - 3)
    case .longLength: (length, raw.closes) = (answer.body.count + 5, true)
    case .flipped where !answer.body.isEmpty && answer.status.hasPrefix("206"):
      answer.body[Int.random(in: 0..<answer.body.count, using: &state.random)] ^= 1 << 3
    case .otherTag: if answer.etag != nil { answer.etag = "\"other\"" }
    case .noTag: answer.etag = nil
    case .oddTag:
      answer.etag = [
        "\"a b\"", "\"a\tb\"", "\"\u{e9}\"", String(repeating: "x", count: 5000), "\"\"\"", "W/\"e\"",
      ]
      .randomElement(using: &state.random)!
    case .encoded: answer.fields.append("Content-Encoding: gzip")
    case .cut: raw.closes = true
    case .closed: return FakeStore.Raw(closes: true)
    case .silence: return FakeStore.Raw(isSilent: true)
    case .garbage:
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &state.random) }
      return FakeStore.Raw(pieces: [bytes], closes: true)
    case .endlessHeaders:
      let line = Array("X-Y: \(String(repeating: "z", count: 1000))\r\n".utf8)
      return FakeStore.Raw(
        pieces: [Array("HTTP/1.1 200 OK\r\n".utf8)] + [[UInt8]](repeating: line, count: 200), closes: true)
    default: break
    }
    // A tag that no header of ours could have is what the answer says all the same.
    let tag = answer.etag.map { "ETag: \($0)\r\n" } ?? ""
    let fields = answer.fields.map { "\($0)\r\n" }.joined()
    let head = "HTTP/1.1 \(answer.status)\r\n\(tag)\(fields)"
    guard answer.hasBody else {
      raw.pieces = [Array((head + "\r\n").utf8)]
      return raw
    }
    if mischief == .shortChunks {
      let part = answer.body.dropLast(answer.body.count / 2 + 1)
      let chunk = part.isEmpty ? [] : Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10]
      raw.pieces = [Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8) + chunk + Array("0\r\n\r\n".utf8)]
      return raw
    }
    let start = Array("\(head)Content-Length: \(length ?? answer.body.count)\r\n\r\n".utf8)
    if mischief == .cut { answer.body.removeLast(answer.body.count / 3) }
    if mischief == .drip {
      raw.pieces = [start] + answer.body.map { [$0] }
      (raw.pause, raw.closes) = (.milliseconds(2), true)
    } else {
      raw.pieces = [start + answer.body]
    }
    if mischief == .shortLength { raw.closes = true }
    return raw
  }
}
