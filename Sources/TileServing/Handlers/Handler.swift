import TileStorage
import ZigguratConcurrency
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// A request for handlers, as one object: a handler is created and copied without retaining each part.
final class RequestContext: Sendable {
  let request: Request
  let path: NormalizedPath
  let principal: Principal
  let address: ServerAddress
  let principals: Authentication
  /// The number of times that the request has waited.
  fileprivate let waits: Int

  init(
    _ request: Request, _ path: NormalizedPath, principal: Principal, at address: ServerAddress,
    _ principals: Authentication, waits: Int = 0
  ) {
    self.request = request
    self.path = path
    self.principal = principal
    self.address = address
    self.principals = principals
    self.waits = waits
  }

  /// Returns a copy for any thread.
  ///
  /// - Parameter waits: the number of waits that begin now.
  fileprivate func detached(waits: Int = 0) -> RequestContext {
    RequestContext(
      request.detached, path, principal: principal, at: address, principals, waits: self.waits + waits)
  }

  /// Returns a copy with the present principal: the session may have ended during a wait.
  ///
  /// - Parameter isUse: whether this resets the session's idle time.
  fileprivate func identifiedAgain(isUse: Bool) -> RequestContext {
    let principal = principals.principal(request, isUse: isUse)
    return RequestContext(request, path, principal: principal, at: address, principals, waits: waits)
  }
}

/// Handles the requests for one kind of resource. Each request gets a new handler with the dependencies that it needs.
protocol Handler: Sendable {
  var context: RequestContext { get set }
}

extension Handler {
  var request: Request { context.request }
  var path: NormalizedPath { context.path }
  var principal: Principal { context.principal }
  var decodedQuery: DecodedQuery { DecodedQuery(request.parameters) }

  /// The generation that the query names.
  var namedGeneration: UInt64? { request.query.withUnsafeBytes { CacheLifetime.generation(in: $0) } }

  /// The response if a resource exists, but is not available at present.
  var unavailable: Response {
    guard case .api = path.route else { return .unavailable }
    return .problem(503, "Busy", Response.unavailableMessage)
  }

  /// A response in the form that the request's Accept header prefers.
  /// - Parameter forms: the preferred one first.
  func negotiated(_ bytes: [UInt8], _ forms: [TileDocument.Form]) -> Response {
    var form = forms[0]
    if forms.count > 1 {
      let name = MediaRanges(request.header("Accept") ?? "*/*").best(of: forms.map(\.name))
      form = forms.first { $0.name == name } ?? form
    }
    var response = Response.json(bytes, form.mediaType)
    if forms.count > 1 { response.vary(by: "Accept") }
    if let link = form.link { response.headers.append(("Link", link)) }
    return response
  }

  // MARK: Waiting

  /// Makes the rest of the reply after a wait.
  ///
  /// - Parameters:
  ///   - head: the response without its body, if it is known before.
  ///   - rest: makes the rest of the reply; it gets the handler for any thread.
  func waiting(
    for pending: any Pending, head: Response? = nil, _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    guard context.waits < TileArchive.maxAttempts else { return .response(unavailable) }
    var handler = self
    handler.context = context.detached(waits: 1)
    return .task(head: head) { [handler] in
      let start = ContinuousClock.now
      await pending.landed()
      let fetch = ResponseTiming("fetch", .now - start)
      guard !Task.isCancelled else { return handler.unavailable }
      var response = await rest(handler.identifiedAgain()).response()
      response.timings.append(fetch)
      return response
    }
  }

  /// Makes the rest of the reply on a thread that may block, which an event loop must not.
  ///
  /// - Parameter queue: nil if the rest does not block; it is then made immediately.
  func rest(on queue: BlockingQueue?, _ rest: @escaping @Sendable (Self) -> Reply) -> Reply {
    guard let queue else { return rest(self) }
    var handler = self
    handler.context = context.detached()
    return queue.reply(for: request.client) { [handler] in
      rest(handler.identifiedAgain())
    }
  }

  /// Whether the request has waited for pending data.
  var hasWaited: Bool { context.waits > 0 }

  /// Returns a copy with the present principal: the session may have ended since the request began.
  ///
  /// - Parameter isUse: whether this resets the session's idle time.
  func identifiedAgain(isUse: Bool = false) -> Self {
    var handler = self
    handler.context = context.identifiedAgain(isUse: isUse)
    return handler
  }
}
