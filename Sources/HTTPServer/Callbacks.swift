import Glibc
import TileStorage
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// The functions that libmicrohttpd calls. Top-level functions of a library: a closure in a main file would be checked
/// for the main actor and crash on the first request.
enum Callbacks {
  typealias Completed =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_RequestTerminationCode
    ) -> Void
  typealias ConnectionChanged =
    @convention(c) (
      UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
      MHD_ConnectionNotificationCode
    ) -> Void
  typealias Unescape =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int

  /// The path stays as it was sent: decoded, `%00` would cut it and `%2F` would be a slash.
  static let keepEscapes: Unescape = { _, _, text in text.map { strlen($0) } ?? 0 }

  typealias SeeURI =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) ->
    UnsafeMutableRawPointer?

  /// Called before the daemon splits the query.
  static let seeURI: SeeURI = { _, uri, connection in
    if let connection, let deadline = deadline(connection) {
      deadline._withUnsafeGuaranteedRef {
        $0.hidden = uri.flatMap(RequestTarget.hide)
        $0.target = uri
        $0.cookie = nil
      }
      CookieDecoy.add(to: connection)
    }
    return nil
  }

  static let handle: MHD_AccessHandlerCallback = {
    context, connection, url, method, version, data, size, state in
    guard let context, let connection, let url, let method, let version, let size, let state else {
      return .NO
    }
    return answerRequest(ServerContext.from(context), connection, url, method, version, data, size, state)
  }

  static let requestCompleted: Completed = { context, connection, state, _ in
    guard let context, let connection, let state else { return }
    completeRequest(ServerContext.from(context), connection, state)
  }

  /// Called with the event loop.
  static let connectionChanged: ConnectionChanged = { loop, connection, slot, code in
    guard let loop, let connection, let slot else { return }
    Unmanaged<EventLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { loop in
      let context = loop.context
      if code == .CONNECTION_NOTIFY_STARTED {
        context.site.loops.join()
        slot.pointee = context.begin(connection).toOpaque()
        context.site.metrics.connections.wrappingAdd(1, ordering: .relaxed)
      } else if let pointer = slot.pointee {
        slot.pointee = nil
        context.site.metrics.connections.wrappingSubtract(1, ordering: .relaxed)
        context.end(Unmanaged.fromOpaque(pointer))
        loop.connectionEnded()
      }
    }
  }
}

func deadline(_ connection: OpaquePointer) -> Unmanaged<ConnectionDeadlines.Connection>? {
  zg_socket_context(connection).map { Unmanaged.fromOpaque($0) }
}

private func answerRequest(
  _ context: Unmanaged<ServerContext>, _ connection: OpaquePointer, _ url: UnsafePointer<CChar>,
  _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ data: UnsafePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  context._withUnsafeGuaranteedRef { context in
    // From the connection's beginning to its end there is one.
    guard let known = deadline(connection) else { return .NO }
    let target = RequestTarget(
      url, known._withUnsafeGuaranteedRef { $0.hidden }, below: context.site.basePath)
    if state.pointee == nil {
      state.pointee = headersSeen
      context.requestsInFlight.wrappingAdd(1, ordering: .relaxed)
      known._withUnsafeGuaranteedRef { $0.begin(Route(target.path, query: target.query)) }
      var notes = RequestGuard.Notes()
      let why = RequestGuard.refusal(context.site, connection, method, target, version, &notes)
      context.begin(known, connection, notes)
      known._withUnsafeGuaranteedRef {
        $0.learn(isHTTP10: version[7] == 0x30, host: notes.host, absolute: target.authority)
      }
      // A tile's answer has links that are as long as the target.
      let needed = notes.headerSize + 2 * target.count + HTTPServer.Limits.headerRecord * notes.headerCount
      if context.limits.headerMemory < needed {
        // The daemon has no memory left for the head of an answer.
        return refuse(context, connection, method, target, .longHead)
      }
      if let why { return refuse(context, connection, method, target, why) }
      if !context.admits(notes.host, known) {
        return refuse(context, connection, method, target, state, .unknownHost(notes.host))
      }
      if notes.headerSize > context.limits.headerSize {
        return refuse(context, connection, method, target, .longHead)
      }
      if target.count > context.limits.urlLength {
        return refuse(context, connection, method, target, .longURL)
      }
      if !context.admits(known) {
        return refuse(context, connection, method, target, state, .tooManyRequests)
      }
      if isPlainRead(method) { return .YES }  // an answer on the first call would end the connection
      if isWrite(method) { return beginBody(context, connection, target, method, state) }
      // A body that nobody reads would be taken for the next request: answered now, the connection ends.
      return answer(context, connection, target, method, state)
    }
    known._withUnsafeGuaranteedRef { Suspension.end(connection, $0) }
    if size.pointee > 0, let data, known._withUnsafeGuaranteedRef({ $0.isChunked }),
      ChunkGuard.isMalformed(before: lying(before: data, from: method + zg_head_size(connection)))
    {
      known._withUnsafeGuaranteedRef { context.refuseDirectly(.chunkLine, connection, $0) }
      return .NO
    }
    if let body = object(state) as? IncomingBody {
      return receive(body, context, connection, target, method, data, size, state)
    }
    if size.pointee > 0 {  // a body with a GET means nothing
      size.pointee = 0
      return .YES
    }
    if let response = (object(state) as? PendingAnswer)?.response {
      return send(response, String(cString: method), context, connection, target)
    }
    context.deadlines.requestIsWhole(known)
    let isMonitor = known._withUnsafeGuaranteedRef { $0.isMonitor }
    if method[0] != 0x4f, !isMonitor {
      let found = context.site.tile(
        known._withUnsafeGuaranteedRef({ $0.route }), target.path, query: target.query,
        cookies: { known._withUnsafeGuaranteedRef { $0.cookie } })
      switch found {
      case .found(let tile):
        // Kept mapped until the request is completed.
        keep(tile.archive.toOpaque(), in: state)
        return answer(tile, context, connection, target, method)
      case .late(let arrival) where waits(for: arrival, connection, method, state): return .YES
      case .late, .other: break
      }
    }
    return answer(context, connection, target, method, state)
  }
}

/// Notes the log entry of an answer, which is written once the answer is sent.
func note(
  _ context: ServerContext, _ connection: OpaquePointer, _ method: String, _ target: RequestTarget,
  _ status: Int, _ bytes: Int, _ reason: String? = nil
) {
  let shown = target.logged(showsWords: context.site.logsWords)
  let entry = AccessLog.Entry(
    client: context.origin(of: connection)?.description ?? "-", method: method, target: shown.target,
    status: status, bytes: bytes,
    referer: header(connection, "Referer").map {
      LoggedReferer(UnsafeRawBufferPointer(start: $0, count: strlen($0))).text
    },
    userAgent: header(connection, "User-Agent").map { String(cString: $0) },
    reason: shown.isWhole ? reason : nil)
  deadline(connection)?._withUnsafeGuaranteedRef { $0.logged = entry }
}

private func refuse(
  _ context: ServerContext, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>,
  _ target: RequestTarget, _ why: MalformedRequest
) -> MHD_Result {
  // The head may have left no memory for that of an answer.
  if why == .longHead {
    let isHead = strcmp(method, "HEAD") == 0
    deadline(connection)?._withUnsafeGuaranteedRef {
      context.refuseDirectly(why, connection, $0, isHead: isHead)
    }
    return .NO
  }
  let bytes = why.text.utf8CodeUnitCount
  deadline(connection)?._withUnsafeGuaranteedRef {
    $0.answer(why.status, bytes)
    $0.lingers = true
  }
  if context.log != nil {
    note(context, connection, String(cString: method), target, why.status, bytes)
  }
  return send(why.response, connection)
}

/// Returns the daemon's memory from `start` to `data`; an empty buffer if `data` lies elsewhere.
private func lying(
  before data: UnsafePointer<CChar>, from start: UnsafePointer<CChar>
) -> UnsafeBufferPointer<UInt8> {
  UnsafeBufferPointer(
    start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: max(0, data - start))
}

/// Answers everything but a stored tile.
private func answer(
  _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  let request = RoutedRequest(request(context, connection, target, method))
  return give(
    context.site.respond(to: request), request.method, context, connection, target, state)
}

private func refuse(
  _ context: ServerContext, _ connection: OpaquePointer, _ method: UnsafePointer<CChar>,
  _ target: RequestTarget, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ response: Response
) -> MHD_Result {
  let request = RoutedRequest(request(context, connection, target, method))
  // Answered before its body was read.
  deadline(connection)?._withUnsafeGuaranteedRef { $0.lingers = true }
  return give(
    context.site.finished(.now(response), for: request), request.method, context, connection, target,
    state)
}

/// Sends an answer, or suspends the connection until it is there.
func give(
  _ answer: Answer, _ method: String, _ context: ServerContext, _ connection: OpaquePointer,
  _ target: RequestTarget, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  switch answer {
  case .now(let response): return send(response, method, context, connection, target)
  case .later(let later):
    let pending = PendingAnswer(connection, after: object(state) as? PendingAnswer)
    keep(Unmanaged.passRetained(pending).toOpaque(), in: state)
    pending.wait(for: later)
    return .YES
  }
}

func send(
  _ response: Response, _ method: String, _ context: ServerContext, _ connection: OpaquePointer,
  _ target: RequestTarget
) -> MHD_Result {
  guard hasMemory(for: response, context, connection) else {
    deadline(connection)?._withUnsafeGuaranteedRef {
      context.refuseDirectly(.longHead, connection, $0, isHead: method == "HEAD")
    }
    return .NO
  }
  let bytes = method == "HEAD" ? 0 : response.length ?? 0
  deadline(connection)?._withUnsafeGuaranteedRef { $0.answer(response.status, bytes) }
  if context.log != nil {
    let reason = response.status >= 500 ? response.reason : nil
    note(context, connection, method, target, response.status, bytes, reason)
  }
  return send(response, connection)
}

/// Whether the daemon has memory for the answer's head beside that of the request; without, it would end the
/// connection and send nothing.
private func hasMemory(
  for response: Response, _ context: ServerContext, _ connection: OpaquePointer
) -> Bool {
  // The status line, Date, Connection and Content-Length.
  var needed = 200
  for (name, value) in response.headers { needed += name.utf8.count + value.utf8.count + 4 }
  let count = deadline(connection)?._withUnsafeGuaranteedRef { $0.headerCount } ?? 0
  // The decoy has a record, too.
  let used = zg_head_size(connection) + HTTPServer.Limits.headerRecord * (count + 1)
  return needed + used <= context.limits.connectionMemory
}

private func completeRequest(
  _ context: Unmanaged<ServerContext>, _ connection: OpaquePointer,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) {
  let known = deadline(connection)
  known?._withUnsafeGuaranteedRef {
    $0.target = nil
    $0.cookie = nil
  }
  guard let pointer = state.pointee else { return }
  state.pointee = nil
  if pointer != headersSeen { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
  context._withUnsafeGuaranteedRef { context in
    context.requestsInFlight.wrappingSubtract(1, ordering: .releasing)
    if let deadline = known {
      context.requestEnded(deadline)
      deadline._withUnsafeGuaranteedRef { $0.count(in: context.site.metrics, context.log) }
      context.deadlines.answerIsSent(deadline)
    }
  }
}

/// GET, HEAD or OPTIONS.
private func isPlainRead(_ method: UnsafePointer<CChar>) -> Bool {
  strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0
}

/// Returns the request as a value, for everything but stored tiles and requests that change something.
private func request(
  _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>
) -> Request {
  // Safe: such a request is read on its connection's event loop alone.
  nonisolated(unsafe) let connection = connection
  return Request(
    method: String(cString: method), rawPath: Array(target.path), query: Array(target.query),
    origin: context.origin(of: connection),
    isMonitor: context.isMonitor(connection), publicBase: context.publicBase(of: connection),
    header: { name in
      header(connection, name).map {
        ListHeaders.isList(name)
          ? listHeader(connection, name, first: $0) : String(cString: $0)
      }
    })
}
