import Glibc
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// POST, PUT, PATCH or DELETE.
func isWrite(_ method: UnsafePointer<CChar>) -> Bool {
  strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0
    || strcmp(method, "DELETE") == 0
}

/// Asks the site what it wants of a request's body: refuses, or has the daemon read it.
func beginBody(
  _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  let request = RoutedRequest(detachedRequest(context, connection, target, method))
  let plan = context.site.bodyPlan(for: request)
  if case .refuse(let response) = plan {
    deadline(connection)?._withUnsafeGuaranteedRef { $0.lingers = true }
    return give(
      context.site.finished(.now(response), for: request), request.method, context, connection, target, state)
  }
  if case .collect(let limit, _) = plan, let length = request.request.header("Content-Length"),
    Int(length) ?? .max > limit
  {
    deadline(connection)?._withUnsafeGuaranteedRef { $0.lingers = true }
    return give(
      context.site.finished(.now(.tooLarge(limit)), for: request), request.method, context, connection,
      target, state)
  }
  guard let body = IncomingBody(plan, request, connection, context.site.writes) else { return .NO }
  state.pointee = Unmanaged.passRetained(body).toOpaque()
  if let deadline = deadline(connection) { context.deadlines.bodyProgresses(deadline) }
  return .YES
}

/// Gives the next bytes to the body, or answers where it is whole.
/// - Parameter size: of `data`; 0 at the end, and afterwards what was not taken.
func receive(
  _ body: IncomingBody, _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>, _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> MHD_Result {
  guard size.pointee > 0, let data else {
    if let deadline = deadline(connection) { context.deadlines.requestIsWhole(deadline) }
    guard let answer = body.answer() else { return .YES }
    let request = body.request
    return give(
      context.site.finished(answer, for: request), request.method, context, connection, target, state)
  }
  switch body.take(UnsafeRawBufferPointer(start: data, count: size.pointee)) {
  case .later: return .YES
  case .cut: return .NO
  case .taken(let gainsTime):
    size.pointee = 0
    if gainsTime, let deadline = deadline(connection) { context.deadlines.bodyProgresses(deadline) }
    return .YES
  }
}

/// A request that can be read on any thread: a copy of all that was sent.
private func detachedRequest(
  _ context: ServerContext, _ connection: OpaquePointer, _ target: RequestTarget,
  _ method: UnsafePointer<CChar>
) -> Request {
  var headers: [String: String] = [:]
  withUnsafeMutablePointer(to: &headers) { headers in
    _ = MHD_get_connection_values(
      connection, .HEADER_KIND,
      { headers, _, name, value in
        guard let headers = headers?.assumingMemoryBound(to: [String: String].self), let name, let value,
          !CookieDecoy.isDecoy(name)
        else { return .YES }
        let (key, line) = (String(cString: name).lowercased(), String(cString: value))
        if let first = headers.pointee[key] {
          // Else the first of several counts, as the daemon's own look-up has it.
          if ListHeaders.isList(key) { headers.pointee[key] = first + ", " + line }
        } else {
          headers.pointee[key] = line
        }
        return .YES
      }, headers)
  }
  headers["host"] = header(connection, "Host").map { String(cString: $0) }
  return Request(
    method: String(cString: method), rawPath: Array(target.path), query: Array(target.query),
    origin: context.origin(of: connection), isMonitor: context.isMonitor(connection),
    publicBase: context.publicBase(of: connection),
    header: { [headers] name in headers[name.lowercased()] })
}
