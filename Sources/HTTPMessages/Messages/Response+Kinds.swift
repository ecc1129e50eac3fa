package import ZigguratText

/// Responses for common cases.
extension Response {
  package static func text(_ status: Int, _ text: String) -> Response {
    var response = Response(
      status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store"), anyOrigin],
      .bytes(Array((text + "\n").utf8)))
    if status >= 500 { response.reason = text }
    return response
  }

  /// Returns a response that all clients may read, and that caches store for a while.
  /// - Parameter maxAge: seconds.
  package static func json(
    _ bytes: [UInt8], _ mediaType: String = "application/json", maxAge: Int = 10
  ) -> Response {
    Response(
      200,
      [
        ("Content-Type", mediaType), ("ETag", EntityTag(of: bytes).text),
        ("Cache-Control", "public, max-age=\(maxAge)"), anyOrigin,
      ], .bytes(bytes))
  }

  /// Returns a response of `application/problem+json` (RFC 9457), with Retry-After if a retry may succeed.
  /// - Parameter extensions: writes additional members (section 3.2).
  package static func problem(
    _ status: Int, _ title: String, _ detail: String, _ extensions: (inout JSONWriter) -> Void = { _ in }
  ) -> Response {
    var json = JSONWriter(capacity: 128)
    json.object { json in
      json.member("detail", detail)
      extensions(&json)
      json.member("status", status)
      json.member("title", title)
      json.member("type", "about:blank")
    }
    var response = Response(
      status, [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), anyOrigin],
      .bytes(json.bytes))
    if status >= 500 { response.reason = detail }
    // RFC 9110, section 10.2.3. A full disk is checked as often as for uploads that wait for room.
    if let seconds = [503: 1, 507: 20][status] { response["Retry-After"] = "\(seconds)" }
    return response
  }

  package static let methodNotAllowed = methodNotAllowed(besides: [])

  /// - Parameters:
  ///   - others: allowed methods besides those that read.
  ///   - isProblem: whether the response is a problem document.
  package static func methodNotAllowed(besides others: [String], isProblem: Bool = false) -> Response {
    let all = ["GET", "HEAD", "OPTIONS"] + others
    let detail = "only \(all.dropLast().joined(separator: ", ")) and \(all.last!) are answered here"
    var response = isProblem ? problem(405, "Method not allowed", detail) : text(405, detail)
    response["Allow"] = all.joined(separator: ", ")
    return response
  }

  /// The response to OPTIONS, including CORS preflight requests.
  package static let options = Response(
    204,
    [
      ("Allow", "GET, HEAD, OPTIONS"), anyOrigin, ("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
      ("Access-Control-Allow-Headers", "*"), ("Access-Control-Max-Age", "86400"),
    ], .bytes([]))

  /// The response to a request beyond the client's limit of concurrent requests.
  package static let tooManyRequests: Response = {
    var response = text(429, "too many requests of one address at a time")
    response["Retry-After"] = "1"
    return response
  }()

  /// Returns the response to a body above the limit.
  /// - Parameter limit: bytes.
  package static func tooLarge(_ limit: Int) -> Response {
    problem(413, "Content too large", "the body may have at most \(limit) bytes")
  }

  /// The response if the workers are busy, or the server is shutting down.
  package static let tooBusy = problem(503, "Busy", "the server is busy with changes; try again")
}
