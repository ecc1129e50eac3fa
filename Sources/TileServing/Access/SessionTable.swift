import Glibc
import Synchronization
import TileStorage
import ZigguratCSodium
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// The rights granted to a browser until it logs out, is idle for too long, or reaches the maximum session age.
struct Session: Sendable {
  /// An identifier for logs, where the session's id must not appear. It stays the same when the session gains
  /// rights.
  var label = ""
  /// Whether the session was authorized by the token.
  var hasToken = false
  /// The space that was opened by a password.
  var space: SpaceLibrary?
  /// The creation time of the session, in seconds.
  var began = 0
  var lastUse = 0
}

/// The sessions by the digests of their ids. A space is locked as soon as no session holds it.
package final class SessionTable: Sendable {
  /// The idle timeout and maximum age of sessions, in seconds, and their maximum number.
  package struct Limits: Codable, Equatable, Sendable {
    package var idle = 30 * 60
    package var absolute = 12 * 3600
    package var count = 1000

    package init() {}
  }

  let cookie: SessionCookie
  private let limits: Limits
  private let now: @Sendable () -> Int
  private let sessions = Mutex<[TokenHash: Session]>([:])
  /// Called whenever spaces are locked.
  private let locked: @Sendable () -> Void
  /// Called whenever sessions end.
  private let ended: @Sendable () -> Void

  /// - Parameter now: a monotonic clock, in seconds.
  init(
    limits: Limits, cookie: SessionCookie = SessionCookie(isSecure: false),
    now: @escaping @Sendable () -> Int,
    locked: @escaping @Sendable () -> Void = {}, ended: @escaping @Sendable () -> Void = {}
  ) {
    self.limits = limits
    self.cookie = cookie
    self.now = now
    self.locked = locked
    self.ended = ended
  }

  /// Seconds. The clock continues while the machine is suspended.
  static let clock: @Sendable () -> Int = {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec
  }

  var count: Int { sessions.withLock { $0.count } }

  /// Returns the session that the cookies identify; `nil` if there is none.
  /// - Parameter isUse: whether this resets the session's idle time.
  func session(cookies: UnsafeBufferPointer<UInt8>, isUse: Bool = true) -> Session? {
    guard let id = cookie.id(in: cookies) else { return nil }
    let digest = TokenHash(id)
    let time = now()
    return sessions.withLock { sessions in
      guard var session = sessions[digest], isAlive(session, time) else { return nil }
      if isUse, session.lastUse != time {
        session.lastUse = time
        sessions[digest] = session
      }
      return session
    }
  }

  /// Returns the seconds until the session ends if it stays unused.
  func rest(of session: Session) -> Int {
    let time = now()
    return max(0, min(session.lastUse + limits.idle, session.began + limits.absolute) - time)
  }

  /// Returns the space unlocked by the session that the header identifies.
  func space(cookies: UnsafePointer<CChar>) -> SpaceLibrary? {
    let bytes = UnsafeRawPointer(cookies).assumingMemoryBound(to: UInt8.self)
    return session(cookies: UnsafeBufferPointer(start: bytes, count: strlen(cookies)))?.space
  }

  func session(_ request: Request, isUse: Bool = true) -> Session? {
    guard var cookies = request.header("Cookie") else { return nil }
    return cookies.withUTF8 { session(cookies: $0, isUse: isUse) }
  }

  /// Starts a session with the rights of the request's own session and those added by `change`. The session gets a
  /// new id, so that an id planted in the browser beforehand gains nothing (session fixation).
  /// - Returns: the id.
  func begin(instead request: Request, adding change: (inout Session) -> Void) -> String {
    let id = TokenHash.makeSecret()
    let time = now()
    var session = self.session(request) ?? Session()
    if session.began == 0 {
      session.began = time
      session.label = String(UInt32.random(in: 0x1000_0000...UInt32.max), radix: 16)
    }
    session.lastUse = time
    change(&session)
    let replaced = oldDigest(request)
    remove { digest, other in
      digest == replaced || !self.isAlive(other, time)
    } adding: { sessions in
      while sessions.count >= self.limits.count,
        let oldest = sessions.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        sessions[oldest.key] = nil
      }
      sessions[TokenHash(id.utf8)] = session
    }
    return id
  }

  /// Ends the request's session.
  func end(_ request: Request) {
    guard let digest = oldDigest(request) else { return }
    remove { other, _ in other == digest }
  }

  /// Removes expired sessions.
  func sweep() {
    let time = now()
    remove { _, session in !self.isAlive(session, time) }
  }

  /// Wipes the keys of all spaces and ends the sessions that hold them. Sessions without a space continue.
  func lockSpaces() {
    remove { _, session in session.space != nil }
  }

  /// Returns a function that checks, at each call, whether the request's session has the space with a given
  /// identity open.
  func admission(_ request: Request) -> @Sendable (String) -> Bool {
    guard let digest = oldDigest(request) else { return { _ in false } }
    return { [self] owner in
      let time = now()
      return sessions.withLock { sessions in
        guard let session = sessions[digest], isAlive(session, time) else { return false }
        return session.space?.space.identity == owner
      }
    }
  }

  /// Returns a function that checks, at each call, whether the request's session is still alive.
  func liveness(_ request: Request) -> @Sendable () -> Bool {
    guard let digest = oldDigest(request) else { return { false } }
    return { [self] in
      let time = now()
      return sessions.withLock { sessions in sessions[digest].map { isAlive($0, time) } ?? false }
    }
  }

  /// Whether a session with that label is alive, under any id.
  func isOpen(label: String) -> Bool {
    let time = now()
    return sessions.withLock { $0.values.contains { $0.label == label && isAlive($0, time) } }
  }

  /// Returns the unlocked space with that identity, if a session has it open.
  func space(of identity: String) -> SpaceLibrary? {
    sessions.withLock { $0.values.first { $0.space?.space.identity == identity }?.space }
  }

  /// The unlocked spaces, without duplicates.
  var spaces: [SpaceLibrary] {
    sessions.withLock { Self.spaces($0) }
  }

  private static func spaces(_ sessions: [TokenHash: Session]) -> [SpaceLibrary] {
    var seen: Set<ObjectIdentifier> = []
    return sessions.values.compactMap(\.space).filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  private func isAlive(_ session: Session, _ time: Int) -> Bool {
    time - session.lastUse < limits.idle && time - session.began < limits.absolute
  }

  private func remove(
    _ isGone: (TokenHash, Session) -> Bool,
    adding add: (inout [TokenHash: Session]) -> Void = { _ in }
  ) {
    let (gone, hasEnded) = sessions.withLock { sessions -> ([SpaceLibrary], Bool) in
      let (before, ids) = (Self.spaces(sessions), Set(sessions.keys))
      sessions = sessions.filter { !isGone($0.key, $0.value) }
      add(&sessions)
      let left = Set(Self.spaces(sessions).map { ObjectIdentifier($0) })
      return (before.filter { !left.contains(ObjectIdentifier($0)) }, !ids.isSubset(of: sessions.keys))
    }
    for space in gone { space.space.wipeKeys() }
    if !gone.isEmpty { locked() }
    if hasEnded { ended() }
  }

  private func oldDigest(_ request: Request) -> TokenHash? {
    guard var cookies = request.header("Cookie") else { return nil }
    return cookies.withUTF8 { cookie.id(in: $0).map { TokenHash($0) } }
  }
}
