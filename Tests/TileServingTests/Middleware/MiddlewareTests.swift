import Glibc
import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratRepositorySupport
import ZigguratTestSupport

@testable import ZigguratTileServing

/// Middleware in front of a handler of the test's, and in the lists of a site.
@Suite struct MiddlewareTests {
  private static let token = "0123456789abcdef"

  private static func request(
    _ path: String = "/api/images/one", method: String = "GET", isMonitor: Bool = false,
    _ headers: [String: String] = [:]
  ) -> RoutedRequest {
    RoutedRequest(
      Request(method: method, rawPath: Array(path.utf8), isMonitor: isMonitor) { name in
        headers.first { $0.key.lowercased() == name.lowercased() }?.value
      })
  }

  private static let page = Response(
    200, [("Content-Type", "text/plain"), Response.anyOrigin, ("Cache-Control", "public, max-age=60")],
    .bytes(Array("whole".utf8)))

  /// The answer of one middleware whose handler gives `response`; nil if it comes later.
  private static func answer(
    _ middleware: any Middleware, to request: RoutedRequest, _ response: Response = page
  ) -> Response? {
    guard case .response(let response) = middleware.respond(to: request, next: { _ in .response(response) })
    else {
      return nil
    }
    return response
  }

  @Test("the first middleware of a list is the outermost")
  func order() {
    struct Marked: Middleware {
      let name: String

      func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
        next(request).map { response in
          var response = response
          response["Order"] = (response["Order"] ?? "") + name
          return response
        }
      }

      func refusal(of request: RoutedRequest) -> Response? { name == "b" ? .text(403, name) : nil }
    }
    let list = MiddlewareList(["a", "b", "c"].map(Marked.init))
    let answer = list.respond(to: Self.request()) { _ in .response(Self.page) }
    guard case .response(let response) = answer else {
      Issue.record("nothing is to be waited for")
      return
    }
    #expect(response["Order"] == "cba")
    #expect(list.refusal(of: Self.request(method: "POST"))?.status == 403)
  }

  @Test func `a pending response is changed as well`() async {
    let reply = SecurityHeaders().respond(to: Self.request()) { _ in .task { Self.page } }
    #expect(await reply.response()["X-Content-Type-Options"] == "nosniff")
  }

  @Test("the times of a response are sent in order, in milliseconds, the total last")
  func timings() {
    var response = Self.page
    response.timings = [
      ResponseTiming("queue", .microseconds(1_249)), ResponseTiming("render", .milliseconds(20)),
      ResponseTiming("fetch", .nanoseconds(-5)),
    ]
    let text = Self.answer(ServerTiming(), to: Self.request(), response)?["Server-Timing"] ?? ""
    #expect(text.hasPrefix("queue;dur=1.2, render;dur=20.0, fetch;dur=0.0, total;dur="))
  }

  @Test("security headers are added unless the response has its own")
  func caution() {
    var own = Self.page
    own["Content-Security-Policy"] = "default-src 'self'"
    let added = Self.answer(SecurityHeaders(), to: Self.request())
    #expect(added?["Content-Security-Policy"]?.hasPrefix("sandbox") == true)
    let kept = Self.answer(SecurityHeaders(), to: Self.request(), own)
    #expect(kept?["Content-Security-Policy"] == "default-src 'self'")
    #expect(kept?["X-Content-Type-Options"] == "nosniff")
  }

  @Test(
    "conditions and ranges count only for reads",
    arguments: [
      ("GET", "If-None-Match", "\"t\"", 304), ("HEAD", "If-None-Match", "\"t\"", 304),
      ("POST", "If-None-Match", "\"t\"", 200), ("GET", "If-Match", "\"other\"", 412),
      ("GET", "Range", "bytes=0-1", 206), ("GET", "Range", "bytes=9-", 416),
      ("DELETE", "Range", "bytes=0-1", 200),
    ])
  func conditions(method: String, name: String, value: String, status: Int) {
    var tagged = Self.page
    tagged["ETag"] = "\"t\""
    let request = Self.request(method: method, [name: value])
    #expect(Self.answer(ConditionalRequests(), to: request, tagged)?.status == status)
  }

  @Test(
    "every response about uploads has the tus header, except to OPTIONS",
    arguments: [
      ("/api/uploads", "POST", true), ("/api/uploads/x", "HEAD", true), ("/api/uploads", "OPTIONS", false),
      ("/api/images", "GET", false), ("/api/upload%73", "POST", true), ("/", "GET", false),
    ])
  func uploads(path: String, method: String, isExpected: Bool) {
    let answer = Self.answer(UploadHeaders(), to: Self.request(path, method: method))
    #expect((answer?["Tus-Resumable"] == "1.0.0") == isExpected)
  }

  @Test("the headers of proxies are added to Vary, each once")
  func forwarded() {
    var varied = Self.page
    varied["Vary"] = "Accept, Host"
    let answer = Self.answer(ForwardedHeaders(), to: Self.request(), varied)
    #expect(
      answer?["Vary"] == "Accept, Host, Forwarded, X-Forwarded-Host, X-Forwarded-Prefix, X-Forwarded-Proto")
  }

  @Test("wrong tokens count as attempts and are rejected after some; a valid one never is")
  func attempts() {
    let attempts = LoginAttempts(Metrics(), clock: { 0 })
    let middleware = TokenAttempts(token: AccessToken(Self.token)!, attempts: attempts, audit: nil)
    let wrong = Self.request(["Authorization": "Bearer 0123456789abcdeX"])
    var statuses: [Int?] = []
    for _ in 0...LoginRateLimiter.free {
      statuses.append(Self.answer(middleware, to: wrong, .unauthorized)?.status)
    }
    #expect(statuses == Array(repeating: 401, count: LoginRateLimiter.free) + [429])
    let right = Self.request(["Authorization": "Bearer \(Self.token)"])
    #expect(Self.answer(middleware, to: right, .unauthorized)?.status == 401)
    // An answer that is no refusal is no attempt.
    let fresh = TokenAttempts(
      token: AccessToken(Self.token)!, attempts: LoginAttempts(Metrics(), clock: { 0 }), audit: nil)
    for _ in 0...(2 * LoginRateLimiter.free) { #expect(Self.answer(fresh, to: wrong)?.status == 200) }
    #expect(Self.answer(fresh, to: wrong, .unauthorized)?.status == 401)
  }

  private static func request(_ headers: [String: String]) -> RoutedRequest {
    request("/api/images/one", method: "GET", isMonitor: false, headers)
  }

  @Test(
    "only listed sites can read responses",
    arguments: [
      ("*", "https://a.example", "*"), ("https://a.example", "https://a.example", "https://a.example"),
      ("https://a.example", "https://b.example", nil), ("none", "https://a.example", nil),
      ("https://a.example", nil, nil),
    ] as [(String, String?, String?)])
  func origins(allowed: String, origin: String?, expected: String?) throws {
    let middleware = CORS(origins: try #require(AllowedOrigins(allowed)))
    let answer = Self.answer(middleware, to: Self.request(origin.map { ["Origin": $0] } ?? [:]))
    #expect(answer?[Response.anyOrigin.name] == expected)
    #expect(answer?["Vary"] == (allowed == "*" ? nil : "Origin"))
    // What nobody else may read stays so.
    var own = Self.page
    own[Response.anyOrigin.name] = nil
    let closed = Self.answer(middleware, to: Self.request(origin.map { ["Origin": $0] } ?? [:]), own)
    #expect(closed?[Response.anyOrigin.name] == nil)
  }

  @Test(
    "monitors get only resources about the server",
    arguments: [
      ("/metrics", true, 200), ("/healthz", true, 200), ("/%68ealthz", true, 200), ("/api/images", true, 404),
      ("/api/images", false, 200), ("/a%", true, 404),
    ])
  func monitors(path: String, isMonitor: Bool, status: Int) {
    let request = Self.request(path, isMonitor: isMonitor)
    #expect(Self.answer(ManagementRoutes(), to: request)?.status == status)
    #expect((ManagementRoutes().refusal(of: request)?.status == 405) == isMonitor)
  }

  @Test("with a launch key, other clients cannot read, and none can write")
  func launchKey() {
    let launchKey = LaunchKeyAuth()
    let middleware = LaunchKey(launchKey: launchKey, base: "")
    let withoutKey = Self.answer(middleware, to: Self.request())
    #expect(withoutKey?.status == 403)
    #expect(middleware.refusal(of: Self.request(method: "POST"))?.status == 403)
    let withKey = RoutedRequest(
      Request(method: "GET", rawPath: Array("/".utf8), query: Array(launchKey.query.utf8.dropFirst())))
    let entered = Self.answer(middleware, to: withKey)
    #expect(entered?.status == 303)
    let cookie = entered?["Set-Cookie"]?.split(separator: ";").first.map(String.init) ?? ""
    let known = Self.answer(middleware, to: Self.request(["Cookie": cookie]))
    #expect(known?.status == 200)
    // For no cache and no other site.
    #expect(known?["Cache-Control"] == "private, no-store")
    #expect(known?[Response.anyOrigin.name] == nil)
    #expect(middleware.refusal(of: Self.request(["Cookie": cookie]))?.status == 405)
  }

  @Test(
    "the principal is determined if the response depends on it",
    arguments: [
      ("/api/images/one", "GET", true), ("/api/images/one", "HEAD", true), ("/api/session", "GET", false),
      ("/api/%73ession", "GET", false), ("/api/images/one", "OPTIONS", false),
    ])
  func principals(path: String, method: String, isFound: Bool) {
    var access = TileServerConfiguration()
    access.isWritable = true
    access.token = AccessToken(Self.token)
    let sessions = SessionTable(limits: SessionTable.Limits(), now: { 0 }, locked: {})
    let middleware = Authentication(sessions, access, OwnScheme())
    let seen = Mutex<Principal?>(nil)
    let request = Self.request(path, method: method, ["Authorization": "Bearer \(Self.token)"])
    _ = middleware.respond(to: request) { request in
      seen.withLock { $0 = request.principal }
      return .response(Self.page)
    }
    #expect(seen.withLock { $0?.mayWrite } == (isFound ? true : nil))
  }

  @Test(
    "responses vary by cookie with private spaces, and have a lifetime for a shared cache")
  func audience() {
    var request = Self.request()
    #expect(Self.answer(CachePrivacy(hasSpaces: { true }, isBehindEdge: true), to: request)?["Vary"] == nil)
    request.principal = .anyone
    let spaces = Self.answer(CachePrivacy(hasSpaces: { true }, isBehindEdge: false), to: request)
    #expect(spaces?["Vary"] == "Cookie")
    let edge = Self.answer(CachePrivacy(hasSpaces: { false }, isBehindEdge: true), to: request)
    #expect(edge?["Vary"] == nil)
    #expect(edge?["Cache-Control"] == "public, max-age=60, s-maxage=2, stale-if-error=600")
  }

  @Test("text is compressed for clients that accept it, and only for reads")
  func compression() {
    let long = Response(200, [("Content-Type", "text/plain")], .bytes(Array(repeating: 0x61, count: 9000)))
    for (method, codings, coding) in [("GET", "gzip", "gzip"), ("GET", "", nil), ("POST", "gzip", nil)] {
      let answer = Self.answer(
        Compression(), to: Self.request(method: method, ["Accept-Encoding": codings]), long)
      #expect(answer?["Content-Encoding"] == coding)
    }
  }

  @Test func `a query of the catalog runs on the thread of the queue`() async {
    let queue = BlockingQueue(capacity: 4)
    let middleware = CatalogOffload(queue: queue)
    guard case .response = middleware.respond(to: Self.request(), next: { _ in .text(200, "direct") }) else {
      Issue.record("an image needs no catalog")
      return
    }
    let caller = pthread_self()
    let reply = middleware.respond(to: Self.request("/api/images")) { _ in
      .text(pthread_equal(pthread_self(), caller) == 0 ? 200 : 500, "")
    }
    guard case .task = reply else {
      Issue.record("the catalog may block")
      return
    }
    #expect(await reply.response().status == 200)
    queue.stop()
  }

  @Test(
    "the session resource is found by every spelling of its path",
    arguments: ["/api/session", "/api/%73ession"], ["GET", "HEAD", "OPTIONS", "DELETE"])
  func session(path: String, method: String) throws {
    let site = try TileServer(library: InMemoryRepository(), publicFolder: nil)
    guard case .response(let response) = site.respond(to: Self.request(path, method: method)) else {
      Issue.record("nothing is to be waited for")
      return
    }
    #expect(response.status == (method == "OPTIONS" || method == "DELETE" ? 204 : 200))
    #expect(response["Cache-Control"] == "private, no-store")
    #expect(response["X-Content-Type-Options"] == "nosniff")
    #expect(response["Access-Control-Allow-Origin"] == nil)
  }

  @Test(
    "the launch key is checked before the catalog, and rejections are neither compressed nor cached")
  func lists() throws {
    let site = try TileServer(library: InMemoryRepository(), publicFolder: nil, launchKey: LaunchKeyAuth())
    // A list would come later, from a thread that may wait.
    guard
      case .response(let response) = site.respond(
        to: Self.request("/api/images", ["Accept-Encoding": "gzip"]))
    else {
      Issue.record("a client without the key waits for the catalog")
      return
    }
    #expect(response.status == 403)
    #expect(response["Content-Encoding"] == nil)
    #expect(response["Cache-Control"] == "private, no-store")
    guard case .refuse(let refusal) = site.bodyPlan(for: Self.request("/api/trash", method: "POST")) else {
      Issue.record("a client without the key may write")
      return
    }
    #expect(refusal.status == 403)
  }
}
