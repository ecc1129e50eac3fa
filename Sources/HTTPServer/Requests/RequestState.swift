import Glibc
import TileStorage
import ZigguratHTTPMessages
import ZigguratTileServing

/// The request of a connection, from its request line to the end of its answer.
///
/// A connection has one object, which its requests use in turn, so that a request allocates nothing.
final class RequestState {
  enum Stage {
    /// There is no request, or its headers are incomplete.
    case idle
    /// The handler has seen the headers.
    case head
    case body(RequestBodyReader)
    /// The connection is suspended until the response is there, or was suspended for it.
    case suspended(SuspendedRequest)
    /// The tile is sent from the archive's mapping.
    case tile(TileArchive)
  }

  var stage = Stage.idle
  /// The target of the request line, from when libmicrohttpd has read it to the end of the request.
  private(set) var uri: UnsafePointer<CChar>?
  /// The first byte of the query, which is hidden from the daemon; `nil` if there is no query.
  private(set) var hidden: CChar?
  /// The method, from the headers on.
  private(set) var method: UnsafePointer<CChar>
  /// The target, from the headers on.
  private(set) var target = RequestTarget.none
  private(set) var route = Route.page
  /// Whether it is a request of HTTP/1.0, whose clients know no interim responses.
  private(set) var isHTTP10 = false
  /// The authority that the request is sent to, ended by a NUL, if that is not its Host.
  private(set) var authority: ContiguousArray<CChar> = []
  /// The value of the first Cookie header, to the end of the request.
  private(set) var cookie: UnsafePointer<CChar>?
  /// The number of headers.
  private(set) var headerCount = 0
  /// The address of the client that a proxy forwards the request for.
  var origin: IPAddress?
  /// The client that the request of a proxy is counted for.
  var countedClient: ClientAddress?
  /// The log entry of the answer that is being sent; `nil` without a log.
  var logEntry: AccessLog.Entry?
  private var status = 0
  private var bytes = 0
  private var start = 0

  init() {
    let none: StaticString = "-"
    method = UnsafeRawPointer(none.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  var isGet: Bool { method[0] == UInt8(ascii: "G") }
  var isHead: Bool { strcmp(method, "HEAD") == 0 }
  var isOptions: Bool { method[0] == UInt8(ascii: "O") }
  var isIdle: Bool { if case .idle = stage { true } else { false } }

  /// Takes the target of a request line, before the daemon splits its query.
  func begin(_ uri: UnsafePointer<CChar>?) {
    hidden = uri.flatMap(RequestTarget.hide)
    self.uri = uri
    cookie = nil
  }

  /// Takes the request line, when all headers are there.
  func begin(_ method: UnsafePointer<CChar>, _ target: RequestTarget) {
    stage = .head
    self.method = method
    self.target = target
    beginAnswer(Route(target.path, query: target.query))
  }

  /// Begins an answer, whose time is counted from now on.
  func beginAnswer(_ route: Route) {
    self.route = route
    status = 0
    bytes = 0
    start = Self.microseconds()
  }

  /// Takes what was noted of the headers.
  /// - Parameter address: the address that the connection was made to, if no header or target names the server.
  func read(_ notes: RequestSmugglingGuard.Notes, isHTTP10: Bool, address: () -> String?) {
    cookie = notes.cookie
    headerCount = notes.headerCount
    self.isHTTP10 = isHTTP10
    if !authority.isEmpty { authority = [] }
    if let absolute = target.authority {
      authority = ContiguousArray(absolute.map { CChar(bitPattern: $0) } + [0])
    } else if notes.host.isEmpty, let address = address() {
      authority = ContiguousArray(address.utf8CString)
    }
  }

  /// Notes the answer that is being sent: its status, and the bytes of its body.
  func setAnswer(_ status: Int, _ bytes: Int) {
    self.status = status
    self.bytes = bytes
  }

  /// Counts and logs the answer, which was sent or broken off.
  func count(in metrics: Metrics, _ log: AccessLog?) {
    guard status > 0 else { return }
    let microseconds = Self.microseconds() - start
    metrics.add(route, status: status, bytes: bytes, microseconds: microseconds)
    status = 0
    guard let log, let entry = logEntry else { return }
    log.add(entry, microseconds: microseconds)
    logEntry = nil
  }

  /// Forgets the parts of the head that are read before the headers of the next request are there.
  func forgetHead() {
    uri = nil
    cookie = nil
  }

  private static func microseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}
