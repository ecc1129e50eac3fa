package import Synchronization
package import ZigguratFiles
package import ZigguratHTTPMessages
package import ZigguratImageLibrary
package import ZigguratThreads
import ZigguratTileProtocols
import ZigguratTileRendering
package import ZigguratUploading

/// Everything the server answers: request in, response out.
package final class Site: Sendable {
  let library: Library
  /// Files on their way into the library; nil where none are taken.
  let uploads: Uploads?
  package let events = EventHub()
  /// The page's URL for others in the network, ending in a slash; nil where they do not reach the server.
  package let localAddress = Mutex<String?>(nil)
  let pairing = PairingCodes()
  let files: StaticFiles?
  /// In front of every URL in an answer, without a slash at its end; empty for root-relative URLs.
  let base: String
  /// The scheme of this server's own pages.
  let scheme: OwnScheme
  /// The path of `base`, which requests may have in front of theirs.
  package let basePath: BasePath
  let rendering: RenderOptions
  let cacheWords: CacheWords
  let renderer: RenderCells
  /// Where answers that have to be rendered are made.
  package let renders: RenderQueue
  package let loops = EventLoops()
  /// Tiles of folders in answers that are not sent: half of what the system lets be mapped, and of that enough for
  /// one client to have the largest answer.
  let mappedTiles = HeldMemory(limit: max(2 * ViewportAnswer.tileLimit, MappedFile.places / 2))
  /// Where requests that change something are obeyed.
  package let writes = WorkQueue(threads: 4, capacity: 256)
  /// What only the catalog knows.
  let reading = AnswerQueue(capacity: 256)
  /// What sidecars say of images, where that is not in memory yet: a cell reads it, or does not.
  let words = AnswerQueue(capacity: 256)
  /// Answers for which an original must be read to its end, one at a time: those after it find its digest.
  let originals = AnswerQueue(capacity: 256)
  /// `/openapi.json` by the addresses at which clients reached the server lately.
  private let knownDescriptions = Mutex<[String: [UInt8]]>([:])
  /// Of the program.
  let version: String
  let identity: SiteIdentity
  /// What was answered.
  package let metrics = Metrics()

  /// Of a library that only who has its key may see.
  package let gate: Gate?
  let access: Access
  let editor: LibraryEditor
  let trash: Trash
  let sessions: SessionTable
  let guesses = Mutex(GuessLimit())
  let isToBeScrubbed = Atomic<Bool>(false)
  /// A `DiskShortage`, or 0.
  let shortage = Atomic<Int>(0)
  /// When a change was last refused for want of disk space, by `Access.clock`, and the bytes that were free; nil if never.
  let lastRefusal = Mutex<(time: Int, free: Int)?>(nil)
  /// One password at a time: each takes a quarter of a gigabyte.
  let unlocking = AnswerQueue(capacity: 8)

  package init(
    library: Library, publicFolder: String?, baseURL: String = "", rendering: RenderOptions = RenderOptions(),
    gate: Gate? = nil, access: Access = Access(), uploads: Uploads? = nil,
    version: String = "0", identity: SiteIdentity = SiteIdentity()
  ) throws(StorageError) {
    self.gate = gate
    self.access = access
    self.library = library
    self.uploads = uploads
    self.identity = identity
    self.rendering = rendering
    cacheWords = CacheWords(maxAge: access.tileMaxAge, isBehindEdge: access.isBehindEdge)
    self.version = version
    var options = TileRenderer.Options()
    options.quality = rendering.quality
    options.cacheBytes = rendering.cacheBytes / 2
    // As many as are at work most of the time: the lane of quick pictures. The queue gives up first.
    let cells = RenderCells(
      options: options, threads: rendering.threads + 1, timeout: Int(rendering.timeout.rounded(.up)) + 5)
    renderer = cells
    let seconds: @Sendable () -> Double = { cells.seconds }
    renders = RenderQueue(rendering, loops, secondsElsewhere: cells.isElsewhere ? seconds : nil) {
      cells.sweep()
    }
    sessions = SessionTable(
      limits: access.sessions, cookie: SessionCookie(of: baseURL),
      now: access.clock,
      locked: { [renders, renderer] in
        // What was made of private pictures is not kept longer than their keys.
        renders.forget()
        renderer.forget()
        access.audit?.add(.lock, client: nil, visitor: nil)
      }, ended: { [events] in events.endWithSessions() })
    editor = LibraryEditor(library)
    trash = Trash(library, keeps: access.keepsDeleted)
    let basePath = BasePath(of: baseURL)
    files = try publicFolder.map { (folder) throws(StorageError) in
      try StaticFiles(root: folder, below: basePath, of: identity)
    }
    self.basePath = basePath
    scheme = OwnScheme(base: baseURL)
    base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    uploads?.observe { [events] upload in
      events.tell(upload)
      if upload.hasEnded { access.audit?.add(.uploaded(upload), client: nil, visitor: nil) }
    }
  }

  /// Answers what is no stored tile, and says why a tile could not be had.
  package func respond(to request: Request) -> Answer {
    let path = AskedPath(request)
    // The database may take its time, and the event loop has none.
    let isOfCatalog = request.isRead && path.route?.isOfCatalog ?? false
    return finished(
      isOfCatalog ? later(request, path, in: reading) : answer(request, path, mayWait: false), for: request)
  }

  /// The answer as it is sent: under the request's conditions, with what browsers are to do with it, and now where
  /// nothing is to be waited for.
  package func finished(_ answer: Answer, for request: Request) -> Answer {
    var answer = limited(shared(answer, with: request), request)
    if access.readsForwardedBase {
      answer = answer.map { response in
        var response = response
        for name in Self.forwardedHeaders { response.vary(by: name) }
        return response
      }
    }
    if isOfUploads(request) { answer = answer.map(\.resumable) }
    if request.isRead { answer = answer.answering(request.conditions) }
    return answer.map(\.withCaution).settled
  }

  private func isOfUploads(_ request: Request) -> Bool {
    guard uploads != nil, request.method != "OPTIONS", case .api(let asked)? = route(of: request) else {
      return false
    }
    return switch asked {
    case .uploads, .upload: true
    case .session, .images, .image, .trash, .restore, .events, .pairing, .nothing: false
    }
  }

  private func route(of request: Request) -> Route? { (try? PlainPath(request.rawPath))?.route }

  /// Returns `/openapi.json` for clients that reach the server by an address. It is made once for each of a few addresses:
  /// it takes more memory on the way than a thousand other answers.
  /// - Parameter base: the address; `nil` for the server's own.
  func apiDescription(base: String?) -> [UInt8] {
    let base = base ?? self.base
    return knownDescriptions.withLock { known in
      if let known = known[base] { return known }
      if known.count >= 4 { known.removeAll() }
      let made = OpenAPI(
        version: version, base: base, isWritable: access.isWritable
      ).bytes
      known[base] = made
      return made
    }
  }

  /// All of the answer to a request, made by a queue's thread.
  func later(_ request: Request, _ path: AskedPath, in queue: AnswerQueue) -> Answer {
    let request = request.detached
    return .later(queue.later(for: request.client) { [self] in answer(request, path, mayWait: true) })
  }

  private func answer(_ request: Request, _ path: AskedPath, mayWait: Bool) -> Answer {
    guard let gate else { return openResponse(to: request, path, mayWait: mayWait) }
    let isAdmitted = gate.admits(cookies: request.header("Cookie"))
    let answer =
      isAdmitted
      ? openResponse(to: request, path, mayWait: mayWait) : .now(gate.answer(request, base: base))
    return answer.map(\.madePrivate)
  }

  /// What the request may read and change.
  /// - Parameter isUse: a session thereby counts as used.
  package func visitor(_ request: Request, isUse: Bool = true) -> Visitor {
    if let header = request.header("Authorization"), let token = access.token,
      token.admits(authorization: header)
    {
      return Visitor(mayWrite: access.isWritable)
    }
    guard let session = sessions.session(request, isUse: isUse) else { return .anyone }
    return Visitor(session, isWritable: access.isWritable, scheme)
  }

  /// What is wanted of the body of a POST, PUT, PATCH or DELETE, by its headers.
  package func bodyPlan(for request: Request) -> BodyPlan {
    if request.isMonitor { return .refuse(.methodNotAllowed) }
    if let gate {
      let isAdmitted = gate.admits(cookies: request.header("Cookie"))
      return .refuse((isAdmitted ? .methodNotAllowed : gate.answer(request, base: base)).madePrivate)
    }
    if let refusal = refusalOfWriting(request) { return .refuse(refusal) }
    do throws(PlainPath.Refusal) {
      let path = try AskedPath(request).get()
      return Router(site: self, request: request, path: path, visitor: visitor(request)).bodyPlan()
    } catch { return .refuse(.text(error.status, error.text)) }
  }

  /// Whose word counts for where a request comes from.
  package var proxies: TrustedProxies { access.proxies }

  /// What browsers are to let other sites' pages do.
  package var origins: AllowedOrigins { access.origins }

  /// How many cookies of the session's name, or of the gate's, a Cookie header has: more than one are refused.
  package func sessionCookies(in cookies: UnsafeBufferPointer<UInt8>) -> Int {
    gate?.count(in: cookies) ?? sessions.cookie.count(in: cookies)
  }

  /// Whether a request with this Host is answered.
  /// - Parameter address: where the request came in.
  package func admits(host: UnsafeBufferPointer<UInt8>, at address: () -> IPAddress?) -> Bool {
    access.hosts.admit(host, at: address)
  }

  /// Removes for good what was deleted long enough ago; to be called now and then.
  package func purgeDeleted() { if access.isWritable { trash.purge() } }

  /// Looks up the free space that `/metrics` and `/healthz` report; to be called now and then. May block on a file system that hangs.
  /// - Parameter library: the folder; nil if the library is no folder.
  package func lookUpFreeSpace(library: String?) {
    metrics.libraryFree.store(library.flatMap(freeBytes(at:)) ?? -1, ordering: .relaxed)
    metrics.uploadsFree.store(uploads?.freeBytes ?? -1, ordering: .relaxed)
    lookForShortage()
  }

  func trash(of space: SpaceLibrary) -> Trash { Trash(space, keeps: access.keepsDeleted) }

  /// The unlocked space of that identity, as long as a session has it.
  package func space(of identity: String) -> SpaceLibrary? { sessions.space(of: identity) }

  /// Whether what visitors search for may be logged: of private spaces nothing is.
  package var logsWords: Bool { access.spaces?.wasOffered != true && gate == nil }

  /// Makes no more answers; afterwards nobody waits for one. Forgets the keys of all spaces.
  package func stop() {
    writes.stop()
    unlocking.stop()
    reading.stop()
    words.stop()
    originals.stop()
    renders.stop()
    sessions.lockSpaces()
  }

  /// What answers for a path whoever sends the request; nil if the path is malformed.
  private func router(_ request: Request, _ path: AskedPath) -> Router? {
    path.found.map { Router(site: self, request: request, path: $0, visitor: .anyone) }
  }

  private func openResponse(to request: Request, _ path: AskedPath, mayWait: Bool) -> Answer {
    if request.isMonitor, path.route?.isForMonitors != true {
      return .text(404, "here are /metrics and /healthz alone")
    }
    if let refusal = refusalOfWriting(request) { return .now(refusal) }
    if case .api(.session)? = path.route { return sessionAnswer(request) }
    switch request.method {
    case "OPTIONS":
      let router = router(request, path)
      let methods = router?.allowedMethods ?? ["GET", "HEAD", "OPTIONS"]
      return .now(preflight(request, methods) ?? router?.options ?? .options)
    case "GET", "HEAD": break
    default: return .now(router(request, path)?.methodNotAllowed ?? .methodNotAllowed)
    }
    let visitor = visitor(request)
    let answer: Answer
    do throws(PlainPath.Refusal) {
      let path = try path.get()
      answer =
        Router(site: self, request: request, path: path, visitor: visitor, mayWait: mayWait).answer()
    } catch { answer = .text(error.status, error.text) }
    let encoding = request.header("Accept-Encoding")
    let (isInSpace, hasSpaces) = (visitor.space != nil, access.spaces?.wasOffered == true)
    // Two who edit one image at once are told, in a space as in the library.
    let isImage = if case .api(.image)? = path.route { true } else { false }
    return answer.map { [isBehindEdge = access.isBehindEdge] response in
      var response = response.compressed(for: encoding)
      // All of them may tell of a space: what is the same for everybody is not kept either.
      if isInSpace {
        return response.madePrivate(
          keepingTag: isImage && response["Content-Type"] == "application/json")
      }
      if hasSpaces { response.vary(by: "Cookie") }
      return isBehindEdge ? response.atEdge : response
    }
  }
}
