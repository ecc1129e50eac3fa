import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// Requests that change something, and have a body.
extension HTTPConnection {
  /// Has the `TileServer` decide about the request's body: it is refused, or read.
  func beginBody() -> MHD_Result {
    let routed = RoutedRequest(detachedRequest)
    let plan = server.tileServer.bodyPlan(for: routed)
    if case .refuse(let response) = plan { return refuseBody(of: routed, response) }
    if case .collect(let limit, _, _) = plan, let length = routed.request.header("Content-Length"),
      Int(length) ?? .max > limit
    {
      return refuseBody(of: routed, .tooLarge(limit))
    }
    guard let body = RequestBodyReader(plan, routed, self, server.tileServer.workers(for: plan.queue)) else {
      return .NO
    }
    request.stage = .body(body)
    expectRequest()
    return .YES
  }

  private func refuseBody(of request: RoutedRequest, _ response: Response) -> MHD_Result {
    lingers = true
    return give(server.tileServer.finished(.response(response), for: request))
  }

  /// Gives the next bytes to the body, or answers if it is complete.
  /// - Parameter size: the number of bytes in `data`, 0 at the end; after the call the number of those not taken.
  func receive(
    _ body: RequestBodyReader, _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    guard size.pointee > 0, let data else {
      expectAnswer()
      guard let answer = body.answer() else { return .YES }
      return give(server.tileServer.finished(answer, for: body.request))
    }
    switch body.take(UnsafeRawBufferPointer(start: data, count: size.pointee)) {
    case .later: return .YES
    case .cut: return .NO
    case .taken(let gainsTime):
      size.pointee = 0
      if gainsTime { expectRequest() }
      return .YES
    }
  }

  /// The request as a value that any thread can read: a copy of all that was sent.
  private var detachedRequest: Request {
    var headers: [String: String] = [:]
    withUnsafeMutablePointer(to: &headers) { headers in
      _ = MHD_get_connection_values(
        handle, .HEADER_KIND,
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
    headers["host"] = header("Host").map { String(cString: $0) }
    return Request(
      method: String(cString: request.method), rawPath: Array(request.target.path),
      query: Array(request.target.query), origin: origin, isMonitor: isMonitor, publicBase: publicBase,
      header: { [headers] name in headers[name.lowercased()] })
  }
}
