import CMicroHTTPD
import Glibc
import TileServing
import TileStorage

/// What libmicrohttpd calls. Top-level functions of a library: a closure in a main file would be checked
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

  static let handle: MHD_AccessHandlerCallback = {
    context, connection, url, method, version, _, size, state in
    guard let context, let connection, let url, let method, let version, let size, let state else {
      return .NO
    }
    return answerRequest(ListenerContext.from(context), connection, url, method, version, size, state)
  }

  static let requestCompleted: Completed = { context, connection, state, _ in
    guard let context, let connection, let state else { return }
    completeRequest(ListenerContext.from(context), connection, state)
  }

  static let connectionChanged: ConnectionChanged = { context, connection, slot, code in
    guard let context, let connection, let slot else { return }
    ListenerContext.from(context)._withUnsafeGuaranteedRef { context in
      if code == .CONNECTION_NOTIFY_STARTED {
        slot.pointee = context.deadlines.begin(socket: zg_connection_socket(connection)).toOpaque()
      } else if let pointer = slot.pointee {
        slot.pointee = nil
        context.deadlines.end(Unmanaged.fromOpaque(pointer))
      }
    }
  }
}

/// What a request's state pointer says while it holds neither an archive nor a pending answer: its headers
/// were seen.
// An address that nothing has: never read, so safe to share.
nonisolated(unsafe) private let headersSeen = UnsafeMutableRawPointer(bitPattern: 1)

private func deadline(_ connection: OpaquePointer) -> Unmanaged<ConnectionDeadlines.Connection>? {
  zg_socket_context(connection).map { Unmanaged.fromOpaque($0) }
}

private func answerRequest(
  _ context: Unmanaged<ListenerContext>, _ connection: OpaquePointer, _ url: UnsafePointer<CChar>,
  _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ size: UnsafeMutablePointer<Int>,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  context._withUnsafeGuaranteedRef { context in
    if state.pointee == nil {
      state.pointee = headersSeen
      context.requestsInFlight.wrappingAdd(1, ordering: .relaxed)
      if let why = RequestGuard.refusal(connection, version) { return sendRefusal(why, connection) }
      if isPlainRead(method) { return .YES }  // an answer on the first call would end the connection
      // A body that nobody reads would be taken for the next request: answered now, the connection ends.
      return answer(context, connection, url, method, state)
    }
    if size.pointee > 0 {  // a body with a GET means nothing
      size.pointee = 0
      return .YES
    }
    if let pending = pendingAnswer(state) {
      let response = pending.response
      return finish(context, connection, String(cString: method), url, response)
    }
    if let deadline = deadline(connection) { context.deadlines.requestIsWhole(deadline) }
    let path = UnsafeRawBufferPointer(start: url, count: strlen(url))
    if method[0] != 0x4f, case .found(let tile) = context.site.tile(path) {
      // Kept mapped until the request is completed.
      state.pointee = tile.archive.toOpaque()
      var status = 200
      defer {
        if let log = context.log {
          log.add(connection, String(cString: method), String(cString: url), status, tile.bytes.count)
        }
      }
      return sendTile(tile, connection, isGet: method[0] == 0x47, status: &status)
    }
    return answer(context, connection, url, method, state)
  }
}

/// What the request's connection was suspended for, once it was resumed.
private func pendingAnswer(_ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> PendingAnswer? {
  guard let pointer = state.pointee, pointer != headersSeen else { return nil }
  return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? PendingAnswer
}

/// Answers everything but a stored tile.
private func answer(
  _ context: ListenerContext, _ connection: OpaquePointer, _ url: UnsafePointer<CChar>,
  _ method: UnsafePointer<CChar>, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  let request = request(connection, url, method)
  var response = context.site.respond(to: request)
  if case .rendering(let job) = response.body {
    let renders = context.site.renders
    if let bytes = renders.finished(job) {
      response = response.with(bytes)
    } else if !isKnown(response, connection) {
      let pending = PendingAnswer(connection, response)
      state.pointee = Unmanaged.passRetained(pending).toOpaque()
      pending.wait(in: renders, job)
      return .YES
    }
  }
  return finish(context, connection, request.method, url, response)
}

private func finish(
  _ context: ListenerContext, _ connection: OpaquePointer, _ method: String, _ url: UnsafePointer<CChar>,
  _ response: Response
) -> MHD_Result {
  var status = response.status
  let result = send(response, connection, status: &status)
  context.log?.add(connection, method, String(cString: url), status, response.byteCount)
  return result
}

private func completeRequest(
  _ context: Unmanaged<ListenerContext>, _ connection: OpaquePointer,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) {
  guard let pointer = state.pointee else { return }
  state.pointee = nil
  if pointer != headersSeen { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
  context._withUnsafeGuaranteedRef { context in
    context.requestsInFlight.wrappingSubtract(1, ordering: .releasing)
    if let deadline = deadline(connection) { context.deadlines.answerIsSent(deadline) }
  }
}

/// GET, HEAD or OPTIONS.
private func isPlainRead(_ method: UnsafePointer<CChar>) -> Bool {
  strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0
}

/// The request in words, for everything but stored tiles.
private func request(
  _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>
) -> Request {
  final class Query { var items: [(name: [UInt8], value: [UInt8])] = [] }
  let query = Query()
  _ = MHD_get_connection_values(
    connection, .GET_ARGUMENT_KIND,
    { query, _, name, value in
      let query = Unmanaged<Query>.fromOpaque(query!).takeUnretainedValue()
      func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
        text.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? []
      }
      query.items.append((bytes(name), bytes(value)))
      return .YES
    }, Unmanaged.passUnretained(query).toOpaque())
  return Request(
    method: String(cString: method), rawPath: Array(UnsafeRawBufferPointer(start: url, count: strlen(url))),
    rawQuery: query.items,
    header: { name in
      MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { String(cString: $0) }
    })
}
