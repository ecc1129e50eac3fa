package import Synchronization
package import ZigguratConcurrency
package import ZigguratFiles
package import ZigguratHTTPMessages
package import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering
package import ZigguratUploading

/// A server without its sockets, which turns requests into replies. It has the dependencies of handlers, and passes
/// each request to a handler.
package final class TileServer: Sendable {
  let library: any ImageRepository
  let images: ImageAccess
  let pictures: PictureAccess
  let originals: OriginalAccess
  let changes: ChangeAccess
  let trash: TrashAccess
  let passwords: PasswordAccess
  let editor: LibraryEditor
  let pairing = PairingCodes()
  let files: StaticFiles?
  let identity: SiteIdentity
  /// The version of the program.
  let version: String
  let address: ServerAddress
  /// The uploads; nil if the server accepts none.
  let uploads: Uploads?
  package let events = UploadEventBroadcaster()
  /// The page's URL in the local network, ending in a slash; nil if other devices cannot reach the server.
  package let localAddress = Mutex<String?>(nil)
  package let loops = EventLoopCPUTime()
  /// The quota of mapped tiles in unsent responses: half of the system's maximum, and enough for one client's largest
  /// response.
  let mappedTiles = MemoryQuota(limit: max(2 * ViewportResponse.tileLimit, MappedFile.places / 2))
  /// Runs requests that change something, except uploads.
  package let editWorkers = ThreadPool(threads: 4, capacity: 256)
  /// Runs requests about uploads, which never wait for a change that waits for a lock or a database.
  package let uploadWorkers = ThreadPool(threads: 4, capacity: 256)
  /// The counters of responses.
  package let metrics = Metrics()
  /// The access check of a library that is open only to clients with its launch key.
  package let launchKey: LaunchKeyAuth?
  let access: TileServerConfiguration
  let disk: DiskSpace
  let sessions: SessionTable
  let upkeep: SessionUpkeep
  let sessionHandler: SessionHandler
  let crossOrigin: CORS
  let principals: Authentication
  let descriptions: DescriptionCache
  /// Middleware for every response.
  private let everyResponse: MiddlewareList
  /// Middleware that admits requests to resources.
  private let admission: MiddlewareList

  package init(
    library: any ImageRepository, publicFolder: String?, baseURL: String = "",
    rendering: RenderOptions = RenderOptions(),
    launchKey: LaunchKeyAuth? = nil, access: TileServerConfiguration = TileServerConfiguration(),
    uploads: Uploads? = nil,
    version: String = "0", identity: SiteIdentity = SiteIdentity()
  ) throws(StorageError) {
    self.launchKey = launchKey
    self.access = access
    self.library = library
    self.uploads = uploads
    self.identity = identity
    self.version = version
    address = ServerAddress(baseURL)
    images = ImageAccess(
      library: library, catalogQueue: BlockingQueue(capacity: 256),
      metadataQueue: BlockingQueue(capacity: 256),
      originalQueue: BlockingQueue(capacity: 256), surrogateSeed: access.surrogateSeed,
      cacheControl: CacheControlHeaders(maxAge: access.tileMaxAge, isBehindEdge: access.isBehindEdge))
    let pictures = PictureAccess(rendering, loops)
    self.pictures = pictures
    originals = OriginalAccess(isOpen: access.offersOriginals, uploads: uploads)
    disk = DiskSpace(access, metrics, uploads)
    let audit = AuditTrail(log: access.audit, attempts: LoginAttempts(metrics, clock: access.clock))
    changes = ChangeAccess(audit: audit, disk: disk)
    editor = LibraryEditor(library)
    trash = TrashAccess(library: Trash(library, keeps: access.keepsDeleted), keeps: access.keepsDeleted)
    passwords = PasswordAccess(spaces: access.spaces, queue: BlockingQueue(capacity: 8))
    sessions = SessionTable(
      limits: access.sessions, cookie: SessionCookie(of: baseURL),
      now: access.clock,
      locked: {
        // Pictures of a private space are not kept longer than its keys.
        pictures.forget()
        access.audit?.add(.lock, client: nil, principal: nil)
      }, ended: { [events] in events.endWithSessions() })
    upkeep = SessionUpkeep(sessions, library, uploads, purging: access.isWritable ? trash : nil)
    crossOrigin = CORS(origins: access.origins)
    let scheme = OwnScheme(base: baseURL)
    principals = Authentication(sessions, access, scheme)
    sessionHandler = SessionHandler(
      sessions: sessions, upkeep: upkeep, principals: principals, passwords: passwords, library: library,
      access: access, audit: audit, pairing: pairing, scheme: scheme)
    descriptions = DescriptionCache(version: version, base: address.base, isWritable: access.isWritable)
    everyResponse = Self.everyResponse(access, crossOrigin, audit, takesUploads: uploads != nil)
    admission = Self.admission(access, launchKey, address, principals, images)
    files = try publicFolder.map { [address] (folder) throws(StorageError) in
      try StaticFiles(root: folder, below: address.path, of: identity)
    }
    uploads?.observe { [events] upload in
      events.notify(upload)
      if upload.hasEnded { access.audit?.add(.uploaded(upload), client: nil, principal: nil) }
    }
  }

  private static func everyResponse(
    _ access: TileServerConfiguration, _ crossOrigin: CORS, _ audit: AuditTrail, takesUploads: Bool
  ) -> MiddlewareList {
    var list: [any Middleware] = [SecurityHeaders(), ConditionalRequests()]
    if takesUploads { list.append(UploadHeaders()) }
    if access.readsForwardedBase { list.append(ForwardedHeaders()) }
    if let token = access.token {
      list.append(TokenAttempts(token: token, attempts: audit.attempts, audit: audit.log))
    }
    if access.sendsTimings { list.append(ServerTiming()) }
    return MiddlewareList(list + [crossOrigin])
  }

  private static func admission(
    _ access: TileServerConfiguration, _ launchKey: LaunchKeyAuth?, _ address: ServerAddress,
    _ principals: Authentication,
    _ images: ImageAccess
  ) -> MiddlewareList {
    let key: [any Middleware] = launchKey.map { [LaunchKey(launchKey: $0, base: address.base)] } ?? []
    return MiddlewareList(
      key + [
        ManagementRoutes(), WriterRequirement(library: images.library, isWritable: access.isWritable),
        CatalogOffload(queue: images.catalogQueue), principals,
        CachePrivacy(
          hasSpaces: { access.spaces?.wasOffered == true }, isBehindEdge: access.isBehindEdge),
        Compression(),
      ])
  }

  // MARK: Requests

  /// Replies to requests that are not for a stored tile, and explains why a tile is unavailable.
  package func respond(to request: RoutedRequest) -> Reply {
    everyResponse.respond(to: request) { [self] in admission.respond(to: $0) { [self] in reply(to: $0) } }
  }

  /// Applies the middleware to a reply that the listener or the reader of a body has made.
  package func finished(_ reply: Reply, for request: RoutedRequest) -> Reply {
    everyResponse.respond(to: request) { _ in reply }
  }

  /// Returns the use of the body of a POST, PUT, PATCH or DELETE, by its headers.
  package func bodyPlan(for request: RoutedRequest) -> RequestBodyPolicy {
    if let refusal = admission.refusal(of: request) { return .refuse(refusal) }
    do throws(NormalizedPath.ValidationError) {
      let path = try request.path.get()
      return bodyPlan(for: context(request.request, path, principals.principal(request.request)))
    } catch { return .refuse(.text(error.status, error.text)) }
  }

  /// Returns the workers that respond to requests with such a body.
  package func workers(for queue: RequestBodyPolicy.Queue) -> ThreadPool {
    switch queue {
    case .edits: editWorkers
    case .uploads: uploadWorkers
    }
  }

  private func context(_ request: Request, _ path: NormalizedPath, _ principal: Principal) -> RequestContext {
    RequestContext(request, path, principal: principal, at: address, principals)
  }

  private func reply(to request: RoutedRequest) -> Reply {
    if request.isOfSession { return sessionHandler.reply(to: request.request) }
    let path: NormalizedPath
    do throws(NormalizedPath.ValidationError) { path = try request.path.get() } catch {
      switch request.method {
      case "OPTIONS":
        let preflight = crossOrigin.preflight(request.request, ["GET", "HEAD", "OPTIONS"])
        return .response(preflight ?? .options)
      case "GET", "HEAD": return .text(error.status, error.text)
      default: return .response(.methodNotAllowed)
      }
    }
    let context = context(request.request, path, request.principal ?? .anyone)
    switch request.method {
    case "OPTIONS": return .response(options(context))
    case "GET", "HEAD":
      let renames = RenameHandler(context: context, images: images)
      return renames.knowing(renames.namedImages) { [self] renames in
        if let moved = renames.toTheNewID { return .response(moved) }
        guard renames.hasWaited, renames.path.route.isOfCatalog else { return resource(renames.context) }
        return renames.rest(on: images.catalogQueue) { [self] in resource($0.context) }
      }
    default:
      // A JSON problem below `/api`, plain text elsewhere.
      let isAPI = if case .api = path.route { true } else { false }
      return .response(.methodNotAllowed(besides: writingMethods(context), isProblem: isAPI))
    }
  }

  // MARK: Interface of the listener

  /// The proxies whose statement of the client address is accepted.
  package var proxies: TrustedProxies { access.proxies }

  /// The origins whose pages may read responses.
  package var origins: AllowedOrigins { access.origins }

  /// The path of the base URL, which request paths may begin with.
  package var basePath: BasePath { address.path }

  /// Returns the number of cookies in a Cookie header that have the session's name, or the launch key's. More than one
  /// is refused.
  package func sessionCookies(in cookies: UnsafeBufferPointer<UInt8>) -> Int {
    launchKey?.count(in: cookies) ?? sessions.cookie.count(in: cookies)
  }

  /// Whether a request with this Host is accepted.
  ///
  /// - Parameter address: returns the local address at which the request arrived.
  package func admits(host: UnsafeBufferPointer<UInt8>, at address: () -> IPAddress?) -> Bool {
    access.hosts.admit(host, at: address)
  }

  /// Whether search terms may be logged. They are not if the server has private spaces or a launch key.
  package var logsSearches: Bool { access.spaces?.wasOffered != true && launchKey == nil }

  // MARK: Background tasks

  /// Removes expired deletions for good; called from time to time.
  package func purgeDeleted() { if access.isWritable { trash.library.purge() } }

  /// Measures the free space that `/metrics` and `/healthz` report; called from time to time. May block on a file
  /// system that hangs.
  ///
  /// - Parameter library: the folder; nil if the library is not a folder.
  package func lookUpFreeSpace(library: String?) { disk.lookUp(library: library) }

  /// The shortage at the last check; `nil` if there is enough room or nothing is written.
  package var diskShortage: DiskShortage? { disk.shortage }

  /// Ends expired sessions and updates the unlocked spaces; called about once a second.
  package func expireSessions() { upkeep.keep() }

  /// Wipes the keys of all spaces.
  package func lockSpaces() { upkeep.lockSpaces() }

  /// Returns the unlocked space with that identity, if a session has it open.
  package func space(of identity: String) -> SpaceLibrary? { sessions.space(of: identity) }

  /// Stops making responses: refuses queued requests, and returns when none is running. Wipes the keys of all spaces.
  package func stop() {
    editWorkers.stop()
    uploadWorkers.stop()
    passwords.queue.stop()
    for queue in [images.catalogQueue, images.metadataQueue, images.originalQueue] { queue.stop() }
    pictures.queue.stop()
    sessions.lockSpaces()
  }
}
