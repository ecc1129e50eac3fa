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
  let library: any ImageRepository
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
  let reading = BlockingQueue(capacity: 256)
  /// What sidecars say of images, where that is not in memory yet: a cell reads it, or does not.
  let words = BlockingQueue(capacity: 256)
  /// Answers for which an original must be read to its end, one at a time: those after it find its digest.
  let originals = BlockingQueue(capacity: 256)
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
  let attempts: LoginAttempts
  /// Middleware for every answer.
  private let everyAnswer: MiddlewareList
  /// Middleware that admits requests to resources.
  private let admission: MiddlewareList
  let crossOrigin: CrossOrigin
  private let principals: Principals
  let isToBeScrubbed = Atomic<Bool>(false)
  /// A `DiskShortage`, or 0.
  let shortage = Atomic<Int>(0)
  /// When a change was last refused for want of disk space, by `Access.clock`, and the bytes that were free; nil if never.
  let lastRefusal = Mutex<(time: Int, free: Int)?>(nil)
  /// One password at a time: each takes a quarter of a gigabyte.
  let unlocking = BlockingQueue(capacity: 8)

  package init(
    library: any ImageRepository, publicFolder: String?, baseURL: String = "",
    rendering: RenderOptions = RenderOptions(),
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
    attempts = LoginAttempts(metrics, clock: access.clock)
    crossOrigin = CrossOrigin(origins: access.origins)
    scheme = OwnScheme(base: baseURL)
    base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    principals = Principals(sessions, access, scheme)
    everyAnswer = Self.everyAnswer(access, crossOrigin, attempts, takesUploads: uploads != nil)
    admission = Self.admission(library, access, gate, base: base, principals, reading)
    let basePath = BasePath(of: baseURL)
    files = try publicFolder.map { (folder) throws(StorageError) in
      try StaticFiles(root: folder, below: basePath, of: identity)
    }
    self.basePath = basePath
    uploads?.observe { [events] upload in
      events.tell(upload)
      if upload.hasEnded { access.audit?.add(.uploaded(upload), client: nil, visitor: nil) }
    }
  }

  private static func everyAnswer(
    _ access: Access, _ crossOrigin: CrossOrigin, _ attempts: LoginAttempts, takesUploads: Bool
  ) -> MiddlewareList {
    var list: [any Middleware] = [SecurityHeaders(), ConditionalRequests()]
    if takesUploads { list.append(UploadHeaders()) }
    if access.readsForwardedBase { list.append(ForwardedHeaders()) }
    if let token = access.token {
      list.append(TokenAttempts(token: token, attempts: attempts, audit: access.audit))
    }
    if access.sendsTimings { list.append(ServerTiming()) }
    return MiddlewareList(list + [crossOrigin])
  }

  private static func admission(
    _ library: any ImageRepository, _ access: Access, _ gate: Gate?, base: String, _ principals: Principals,
    _ reading: BlockingQueue
  ) -> MiddlewareList {
    let key: [any Middleware] = gate.map { [LaunchKey(gate: $0, base: base)] } ?? []
    return MiddlewareList(
      key + [
        MonitorRoutes(), WriterRequirement(library: library, isWritable: access.isWritable),
        CatalogQueue(queue: reading), principals,
        Audience(
          hasSpaces: { access.spaces?.wasOffered == true }, isBehindEdge: access.isBehindEdge),
        Compression(),
      ])
  }

  /// Answers what is no stored tile, and says why a tile could not be had.
  package func respond(to request: RoutedRequest) -> Reply {
    everyAnswer.respond(to: request) { [self] in admission.respond(to: $0) { [self] in resource($0) } }
  }

  /// The answer to a request as it is sent, where the listener or the reader of its body has made it.
  package func finished(_ reply: Reply, for request: RoutedRequest) -> Reply {
    everyAnswer.respond(to: request) { _ in reply }
  }

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

  /// What the request may read and change.
  /// - Parameter isUse: a session thereby counts as used.
  package func visitor(_ request: Request, isUse: Bool = true) -> Visitor {
    principals.visitor(request, isUse: isUse)
  }

  /// What is wanted of the body of a POST, PUT, PATCH or DELETE, by its headers.
  package func bodyPlan(for request: RoutedRequest) -> BodyPlan {
    if let refusal = admission.refusal(of: request) { return .refuse(refusal) }
    do throws(PlainPath.Refusal) {
      let path = try request.path.get()
      let visitor = visitor(request.request)
      return Router(site: self, request: request.request, path: path, visitor: visitor).bodyPlan()
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

  /// The answer of the resource that a request names.
  private func resource(_ request: RoutedRequest) -> Reply {
    if request.isOfSession { return sessionAnswer(request.request) }
    let path: PlainPath
    do throws(PlainPath.Refusal) { path = try request.path.get() } catch {
      switch request.method {
      case "OPTIONS":
        let preflight = crossOrigin.preflight(request.request, ["GET", "HEAD", "OPTIONS"])
        return .response(preflight ?? .options)
      case "GET", "HEAD": return .text(error.status, error.text)
      default: return .response(.methodNotAllowed)
      }
    }
    let router = Router(
      site: self, request: request.request, path: path, visitor: request.visitor ?? .anyone)
    return switch request.method {
    case "OPTIONS":
      .response(crossOrigin.preflight(request.request, router.allowedMethods) ?? router.options)
    case "GET", "HEAD": router.reply()
    default: .response(router.methodNotAllowed)
    }
  }
}
