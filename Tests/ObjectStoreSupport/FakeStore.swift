import Glibc
import Synchronization
import ZigguratConcurrency

/// An object store on loopback that answers ranged GETs as the test chooses, correctly or not.
final class FakeStore: Sendable {
  /// The change of the honest response.
  enum Answer: CaseIterable, Sendable {
    case honest
    /// Fewer bytes than announced, then the end of the connection.
    case cut
    /// One bit of the body is another.
    case flipped
    /// The bytes behind those that were asked for, as if they were these.
    case shifted
    /// Another range, with the right `Content-Range`.
    case otherRange
    /// All of the object, with status 200.
    case whole
    case otherETag, noETag
    case otherLength
    case noRange
    /// More bytes than announced.
    case tooLong
    /// In chunks that end too soon, though properly.
    case shortChunks
    case encoded
    case twoETags
    case closed
    case garbage
    case busy
    case missing
    /// Nothing at all, until the client is gone.
    case silent
  }

  /// An answer word for word.
  struct Scripted: Sendable {
    var status = "200 OK"
    /// Each with its line's end.
    var fields = ""
    var body = ""
    /// Whether there is no body, although the fields declare one.
    var isHead = false
  }

  /// Bytes as they go over the wire.
  struct Raw: Sendable {
    /// With a pause behind each.
    var pieces: [[UInt8]] = []
    var pause = Duration.zero
    /// Waits until the client has gone.
    var isSilent = false
    /// Whether the connection ends with it.
    var closes = false
  }

  struct Request: Sendable {
    let method: String
    let target: String
    /// Names in small letters.
    let fields: [String: String]
    let body: [UInt8]

    var path: String { String(target.split(separator: "?", omittingEmptySubsequences: false)[0]) }
    var query: String { target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "" }
  }

  let port: UInt16
  /// By path.
  let objects: [String: [UInt8]]
  static let etag = "\"e1\""
  private let listener: Int32
  private let answer: @Sendable (_ number: Int, Request) -> Answer
  private let script: (@Sendable (_ number: Int, Request) -> Scripted)?
  private let raw: (@Sendable (Request) -> Raw)?
  private let seen = Mutex<[Request]>([])
  private let isClosed = OneShotEvent()

  /// - Parameters:
  ///   - objects: by path.
  ///   - answer: of each request, counted from 0.
  ///   - script: what is answered instead, whatever is asked: the status, fields, and the body.
  ///   - raw: the same to the last byte; such requests are not remembered.
  init(
    _ objects: [String: [UInt8]] = [:],
    _ answer: @escaping @Sendable (Int, Request) -> Answer = { _, _ in .honest },
    script: (@Sendable (_ number: Int, Request) -> Scripted)? = nil,
    raw: (@Sendable (Request) -> Raw)? = nil
  ) {
    self.objects = objects
    self.answer = answer
    self.script = script
    self.raw = raw
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let size = length
    let listener = listener
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 1024) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    precondition(isListening, "there is a free port")
    port = UInt16(bigEndian: address.sin_port)
    let isStarted = StartedThread.detached { [self] in
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        var one: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        let isServed = StartedThread.detached(stackBytes: 256 << 10) { [self] in
          serve(connection)
          close(connection)
        }
        if !isServed { close(connection) }
      }
      close(listener)
      isClosed.set()
    }
    precondition(isStarted, "there is a thread")
  }

  var endpoint: String { "http://127.0.0.1:\(port)" }

  var requestCount: Int { seen.withLock { $0.count } }

  var requests: [Request] { seen.withLock { $0 } }

  /// Nobody can connect any more.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    while !isClosed.isSet { isClosed.wait(upTo: 60) }
  }

  private func serve(_ connection: Int32) {
    var input: [UInt8] = []
    while let request = Self.next(connection, &input) {
      if let raw {
        guard Self.send(connection, raw(request)) else { return }
        continue
      }
      let number = seen.withLock { seen in
        seen.append(request)
        return seen.count - 1
      }
      if let scripted = script?(number, request) {
        let count = scripted.isHead ? "" : "Content-Length: \(scripted.body.utf8.count)\r\n"
        let head = "HTTP/1.1 \(scripted.status)\r\n\(scripted.fields)\(count)\r\n"
        guard Self.send(connection, Array((head + scripted.body).utf8)) else { return }
        continue
      }
      let answer = answer(number, request)
      guard respond(to: request, answer, connection) else { return }
    }
  }

  private static func next(_ connection: Int32, _ input: inout [UInt8]) -> Request? {
    let end: [UInt8] = [13, 10, 13, 10]
    func fill() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 64 << 10)
      let count = recv(connection, &buffer, buffer.count, 0)
      if count > 0 { input += buffer[..<count] }
      return count > 0
    }
    while true {
      if let at = input.firstRange(of: end) {
        let lines = String(decoding: input[..<at.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let requestLine = lines[0].split(separator: " ").map(String.init)
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          let colon = line.firstIndex(of: ":")!
          fields[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let count = fields["content-length"].flatMap { Int($0) } ?? 0
        if fields["expect"] != nil, !send(connection, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) {
          return nil
        }
        while input.count < at.upperBound + count { guard fill() else { return nil } }
        defer { input.removeFirst(at.upperBound + count) }
        return Request(
          method: requestLine[0], target: requestLine[1], fields: fields,
          body: Array(input[at.upperBound..<at.upperBound + count]))
      }
      guard fill() else { return nil }
    }
  }

  /// - Returns: whether the connection goes on.
  private static func send(_ connection: Int32, _ raw: Raw) -> Bool {
    for piece in raw.pieces {
      guard send(connection, piece) else { return false }
      if raw.pause > .zero { usleep(UInt32(raw.pause / .microseconds(1))) }
    }
    if raw.isSilent {
      var byte: UInt8 = 0
      _ = recv(connection, &byte, 1, 0)
    }
    return !raw.isSilent && !raw.closes
  }

  private static func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
    var at = 0
    while at < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress! + at, bytes.count - at, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      at += count
    }
    return true
  }

  /// The range of a request of an object of so many bytes; nil where there is none in it.
  static func range(_ request: Request, _ whole: Int) -> Range<Int>? {
    guard let text = request.fields["range"], text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard ends.count == 2 else { return nil }
    if let first = ends[0] {
      let last = min(ends[1] ?? whole - 1, whole - 1)
      return first <= last ? first..<last + 1 : nil
    }
    return ends[1].map { max(0, whole - $0)..<whole }
  }

  /// - Returns: whether the connection goes on.
  private func respond(to request: Request, _ answer: Answer, _ connection: Int32) -> Bool {
    func status(_ line: String) -> Bool {
      Self.send(connection, Array("HTTP/1.1 \(line)\r\nContent-Length: 4\r\n\r\nwhy?".utf8))
    }
    guard let object = objects[request.path] else { return status("404 Not Found") }
    if let condition = request.fields["if-match"], condition != Self.etag {
      return status("412 Precondition Failed")
    }
    guard let range = Self.range(request, object.count) else { return status("416 Range Not Satisfiable") }
    var declared = range
    var body = Array(object[range])
    var etag = "ETag: \(Self.etag)\r\n"
    var extra = ""
    var line = "206 Partial Content"
    var isCut = false
    switch answer {
    case .honest: break
    case .cut: isCut = true
    case .flipped: body[body.count / 2] ^= 4
    case .shifted, .otherRange:
      let shift = range.upperBound + 7 <= object.count ? 7 : -min(7, range.lowerBound)
      body = Array(object[range.lowerBound + shift..<range.upperBound + shift])
      if answer == .otherRange { declared = range.lowerBound + shift..<range.upperBound + shift }
    case .whole: (body, line) = (object, "200 OK")
    case .otherETag: etag = "ETag: \"e2\"\r\n"
    case .noETag: etag = ""
    case .otherLength: body.append(0)
    case .noRange: break
    case .tooLong: break
    case .shortChunks:
      let part = body.dropLast(body.count / 2 + 1)
      let chunk = part.isEmpty ? [] : Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [13, 10]
      let head =
        "HTTP/1.1 \(line)\r\n\(etag)\(Self.contentRange(declared, object.count))Transfer-Encoding: chunked\r\n\r\n"
      return Self.send(connection, Array(head.utf8) + chunk + Array("0\r\n\r\n".utf8))
    case .encoded: extra = "Content-Encoding: gzip\r\n"
    case .twoETags: extra = "ETag: \"e3\"\r\n"
    case .closed: return false
    case .garbage:
      _ = Self.send(connection, Array("\u{1}\u{2}not HTTP at all\r\n\r\n".utf8) + body)
      return false
    case .busy: return status("503 Slow Down")
    case .missing: return status("404 Not Found")
    case .silent:
      var byte: UInt8 = 0
      _ = recv(connection, &byte, 1, 0)
      return false
    }
    let place = answer == .whole || answer == .noRange ? "" : Self.contentRange(declared, object.count)
    let head = "HTTP/1.1 \(line)\r\n\(etag)\(extra)\(place)Content-Length: \(body.count)\r\n\r\n"
    if isCut { body.removeLast(body.count / 3 + 1) }
    if answer == .tooLong { body += [1, 2, 3] }
    return Self.send(connection, Array(head.utf8) + body) && !isCut && answer != .tooLong
  }

  private static func contentRange(_ range: Range<Int>, _ whole: Int) -> String {
    "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(whole)\r\n"
  }
}
