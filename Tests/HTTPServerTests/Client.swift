import Glibc

/// A client that writes any bytes, and parses strictly what comes back.
final class Client {
  struct Response: Equatable {
    let status: Int
    /// The fields by their names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  // It lives as long as its clients.
  private let server: TestServer
  private let socket: Int32
  private var received: [UInt8] = []

  /// - Parameters:
  ///   - address: this end's, of 127.0.0.0/8.
  ///   - buffer: bytes of what is not read that wait at this end; `nil` for the system's default.
  init(_ server: TestServer, from address: String = "127.0.0.1", buffer: Int32? = nil) throws {
    self.server = server
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // No test takes that long.
    set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 60, tv_usec: 0))
    set(SOL_SOCKET, SO_SNDTIMEO, timeval(tv_sec: 60, tv_usec: 0))
    set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    if let buffer { set(SOL_SOCKET, SO_RCVBUF, buffer) }
    guard with(address, 0, Glibc.bind) == 0, with("127.0.0.1", server.server.port, Glibc.connect) == 0 else {
      throw Failure(description: String(cString: strerror(errno)))
    }
  }

  deinit { close(socket) }

  private func set(_ level: Int32, _ option: Int32, _ value: some BitwiseCopyable) {
    withUnsafeBytes(of: value) { _ = setsockopt(socket, level, option, $0.baseAddress, socklen_t($0.count)) }
  }

  private func with(
    _ host: String, _ port: Int, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// Sends a text in pieces of that many bytes; returns false if the server takes no more.
  @discardableResult
  func send(_ text: String, pieces size: Int = .max) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(size))
      var sent = 0
      while sent < piece.count {
        let count = piece[sent...].withUnsafeBytes {
          Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      rest = rest.dropFirst(size)
    }
    return true
  }

  /// Sends the same again and again until the server takes no more, with pauses; returns false after half a minute.
  func sendsUntilCut(_ text: String) -> Bool {
    for _ in 0..<300 {
      if !send(text) || hasEnded { return true }
      usleep(100_000)
    }
    return false
  }

  /// Whether the connection has ended, and all that was sent before is received.
  private var hasEnded: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
  }

  /// Ends this side of the connection, which can still receive.
  func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// Receives a response. Interim responses before it are ignored: a client that has closed its end gets one if the
  /// response takes longer.
  /// - Parameter isToHead: whether it answers a HEAD.
  func response(toHead isToHead: Bool = false) throws -> Response {
    while true {
      let response = try anyResponse(toHead: isToHead)
      guard response.status == 100 else { return response }
    }
  }

  private func anyResponse(toHead isToHead: Bool) throws -> Response {
    let end = Array("\r\n\r\n".utf8)
    var head: Range<Int>?
    while head == nil {
      head = received.firstRange(of: end)
      if head == nil, try receive() == 0 {
        throw Failure(description: "no response, but '\(String(decoding: received, as: UTF8.self))'")
      }
    }
    let lines = String(decoding: received[..<head!.lowerBound], as: UTF8.self).components(by: "\r\n")
    let statusLine = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard statusLine.count == 3, statusLine[0] == "HTTP/1.1", let status = Int(statusLine[1]) else {
      throw Failure(description: "the status line is '\(lines[0])'")
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
        throw Failure(description: "a header is '\(line)'")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields[line[..<colon].lowercased()] = String(value)
    }
    received.removeFirst(head!.upperBound)
    var length = 0
    if !isToHead, status >= 200, status != 204, status != 304 {
      guard let text = fields["content-length"], let number = Int(text) else {
        throw Failure(description: "the response \(status) has no length")
      }
      length = number
    }
    received.reserveCapacity(length)
    while received.count < length {
      if try receive() == 0 { throw Failure(description: "the body ends after \(received.count) bytes") }
    }
    defer { received.removeFirst(length) }
    return Response(status: status, fields: fields, body: Array(received[..<length]))
  }

  /// Receives to the end of the connection, and returns all that was received and is no part of a response.
  func rest() throws -> String {
    try receiveAll()
    return String(decoding: received, as: UTF8.self)
  }

  /// Receives to the end of the connection, and returns the statuses of all responses.
  func statuses() throws -> [Int] {
    try receiveAll()
    var statuses: [Int] = []
    while !received.isEmpty { statuses.append(try response().status) }
    return statuses
  }

  private func receiveAll() throws {
    do { while try receive() > 0 {} } catch is Reset {}
  }

  /// The connection was reset: the server closed it with bytes unread.
  private struct Reset: Error {}

  /// Receives what is there, or waits; returns 0 at the end.
  private func receive() throws -> Int {
    var block = [UInt8](repeating: 0, count: 65536)
    let count = recv(socket, &block, block.count, 0)
    guard count >= 0 else {
      if errno == ECONNRESET { throw Reset() }
      throw Failure(description: "\(String(cString: strerror(errno))) while waiting for the server")
    }
    received += block[..<count]
    return count
  }
}

extension String {
  fileprivate func components(by separator: String) -> [String] {
    split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }
}
