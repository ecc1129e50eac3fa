import Glibc
import TileStorage
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// The steps of a request.
extension HTTPConnection {
  /// Takes the target of a request line, which libmicrohttpd has just read.
  func requestLineRead(_ uri: UnsafePointer<CChar>?) {
    request.begin(uri)
    CookieDecoy.add(to: handle)
  }

  /// Handles the request: called when its headers are there, for the parts of its body, and when it is complete or its
  /// connection was resumed.
  /// - Parameters:
  ///   - data: the next bytes of the body; `nil` if there are none.
  ///   - size: the number of bytes in `data`, and after the call the number of those that were not taken.
  func handle(
    _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
    _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    if request.isIdle { return begin(url, method, version) }
    restoreTimeout()
    if size.pointee > 0, let data, isChunked,
      ChunkGuard.isMalformed(before: Self.memory(from: method + zg_head_size(handle), to: data))
    {
      return refuseDirectly(.chunkLine)
    }
    if case .body(let body) = request.stage { return receive(body, data, size) }
    if size.pointee > 0 {  // a body of a GET has no meaning
      size.pointee = 0
      return .YES
    }
    if case .suspended(let suspended) = request.stage, let response = suspended.response {
      return send(response)
    }
    expectAnswer()
    return answerTile() ?? answer()
  }

  /// Reads the headers. Refuses a malformed request, or one that exceeds a limit.
  private func begin(
    _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
  ) -> MHD_Result {
    let limits = server.limits
    server.requestsInFlight.wrappingAdd(1, ordering: .relaxed)
    let target = RequestTarget(url, request.hidden, below: server.tileServer.basePath)
    request.begin(method, target)
    isIdle.store(false, ordering: .relaxed)
    var notes = RequestSmugglingGuard.Notes()
    let reason = RequestSmugglingGuard.refusal(of: self, version, &notes)
    request.read(notes, isHTTP10: version[7] == UInt8(ascii: "0")) { ListeningSocket.authority(socket) }
    // Not reset: this is the last request of the connection.
    if notes.framing.isChunked { isChunked = true }
    if isProxy { request.origin = forwardedOrigin(notes) }
    // The response of a tile has links as long as the target.
    let needed = notes.headerSize + 2 * target.count + HTTPServer.Limits.headerRecord * notes.headerCount
    // The daemon would have no memory left for the head of a response.
    if limits.headerMemory < needed { return refuse(.longHead) }
    if let reason { return refuse(reason) }
    if !admits(host: notes.host) { return refuse(with: .unknownHost(notes.host)) }
    if notes.headerSize > limits.headerSize { return refuse(.longHead) }
    if target.count > limits.urlLength { return refuse(.longURL) }
    if !countClient() { return refuse(with: .tooManyRequests) }
    if Self.isPlainRead(method) { return .YES }  // a response on the first call would end the connection
    if Self.isWrite(method) { return beginBody() }
    // An unread body would be parsed as the next request: the response is sent now, and the connection ends.
    return answer()
  }

  /// Returns the address of the client that a proxy forwards the request for.
  private func forwardedOrigin(_ notes: RequestSmugglingGuard.Notes) -> IPAddress? {
    switch notes.forwardedLines {
    case 0: return peer
    case 1: return server.tileServer.proxies.origin(peer, forwarded: notes.forwarded)
    default:
      guard let first = header("X-Forwarded-For") else { return peer }
      var lines = list("X-Forwarded-For", first: first)
      return lines.withUTF8 { server.tileServer.proxies.origin(peer, forwarded: $0) }
    }
  }

  /// Responds to a request that is not for a stored tile.
  func answer() -> MHD_Result { give(server.tileServer.respond(to: RoutedRequest(attachedRequest))) }

  /// Sends a response, or suspends the connection until its task has made it.
  func give(_ reply: Reply) -> MHD_Result {
    switch reply {
    case .response(let response): return send(response)
    case .task(let pending):
      let suspended = suspendedRequest()
      request.stage = .suspended(suspended)
      return suspended.wait(for: pending) ? .YES : send(.tooBusy)
    }
  }

  /// Returns the request to suspend, with the number of former suspensions.
  func suspendedRequest() -> SuspendedRequest {
    if case .suspended(let former) = request.stage { return SuspendedRequest(self, after: former) }
    return SuspendedRequest(self, after: nil)
  }

  /// Ends the request after its response was sent or the connection broke.
  func requestCompleted() {
    request.forgetHead()
    guard !request.isIdle else { return }
    request.stage = .idle
    server.requestsInFlight.wrappingSubtract(1, ordering: .releasing)
    releaseClient()
    countAnswer()
    expectRequest()
  }

  /// Counts and logs the response, which was sent or interrupted.
  func countAnswer() {
    isIdle.store(true, ordering: .relaxed)
    request.count(in: server.tileServer.metrics, server.log)
  }

  /// The request as a value, except for stored tiles and changes. It is only read on the connection's event loop.
  var attachedRequest: Request {
    Request(
      method: String(cString: request.method), rawPath: Array(request.target.path),
      query: Array(request.target.query), origin: origin, isMonitor: isMonitor, publicBase: publicBase,
      header: { [self] name in
        header(name).map { ListHeaders.isList(name) ? list(name, first: $0) : String(cString: $0) }
      })
  }

  /// Returns the daemon's memory from `start` to `end`; an empty buffer if `end` is outside of it.
  private static func memory(
    from start: UnsafePointer<CChar>, to end: UnsafePointer<CChar>
  ) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: max(0, end - start))
  }

  /// Whether the method is GET, HEAD or OPTIONS.
  private static func isPlainRead(_ method: UnsafePointer<CChar>) -> Bool {
    strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0
  }

  /// Whether the method is POST, PUT, PATCH or DELETE.
  private static func isWrite(_ method: UnsafePointer<CChar>) -> Bool {
    strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0
      || strcmp(method, "DELETE") == 0
  }
}
