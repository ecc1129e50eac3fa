import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratRepositorySupport
import ZigguratTestSupport
import ZigguratTileProtocols
import ZigguratUploading

@testable import ZigguratTileServing

/// Each handler alone, over a library in memory: what it needs, and what it answers.
@Suite struct HandlerTests {
  private static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!
  private let images: ImageAccess
  private let pictures = PictureAccess(RenderOptions(), EventLoopCPUTime())
  private let originals = OriginalAccess(isOpen: false, uploads: nil)
  private let changes: ChangeAccess
  private let trash: TrashAccess
  private let sessions = SessionTable(
    limits: SessionTable.Limits(), cookie: SessionCookie(of: ""), now: { 0 }, locked: {}, ended: {})
  private let metrics = Metrics()

  init() throws {
    let library = try InMemoryRepository([
      "one": TileArchive(inMemory: Self.pyramid) { Array("tile \($0)".utf8) }
    ])
    images = ImageAccess(
      library: library, catalogQueue: BlockingQueue(capacity: 4), metadataQueue: BlockingQueue(capacity: 4),
      originalQueue: BlockingQueue(capacity: 4), surrogateSeed: nil,
      cacheControl: CacheControlHeaders(maxAge: 0))
    let audit = AuditTrail(log: nil, attempts: LoginAttempts(metrics, clock: { 0 }))
    changes = ChangeAccess(audit: audit, disk: DiskSpace(TileServerConfiguration(), metrics, nil))
    trash = TrashAccess(library: Trash(library, keeps: 60), keeps: 60)
  }

  private func context(
    _ target: String, method: String = "GET", principal: Principal = .anyone,
    _ headers: [String: String] = [:]
  ) throws -> RequestContext {
    let parts = target.split(separator: "?", maxSplits: 1).map { Array($0.utf8) }
    let request = Request(method: method, rawPath: parts[0], query: parts.count > 1 ? parts[1] : []) {
      headers[$0]
    }
    let path = try NormalizedPath(request.rawPath, query: request.query)
    return RequestContext(
      request, path, principal: principal, at: ServerAddress("https://example.org/base/"),
      Authentication(sessions, TileServerConfiguration(), OwnScheme()))
  }

  private static func object(_ response: Response) throws -> [String: Any] {
    guard case .bytes(let bytes) = response.body else { return [:] }
    return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
  }

  @Test func `a tile is sent from its archive, and tiles outside the pyramid are not found`() async throws {
    for (path, status) in [
      ("/dzi/one_files/6/1_0.jpg", 200), ("/dzi/one_files/6/9_0.jpg", 404), ("/dzi/two_files/6/1_0.jpg", 404),
    ] {
      let context = try context(path)
      guard case .tiles(let request) = context.path.route else {
        return #expect(Bool(false), "it is no tile")
      }
      let response = await TileHandler(context: context, images: images, pictures: pictures).reply(request)
        .response()
      #expect(response.status == status)
      guard status == 200, case .bytes(let bytes) = response.body else { continue }
      let number = try #require(Self.pyramid.index(of: TileAddress(level: 6, column: 1, row: 0)))
      #expect(bytes == Array("tile \(number)".utf8) && response["ETag"] != nil)
    }
  }

  @Test func `an image is described with the address of the server in its URLs`() async throws {
    let handler = DescriptionHandler(
      context: try context("/api/images/one"), images: images, originals: originals)
    let known = await handler.reply("one").response()
    let unknown = await handler.reply("two").response()
    let description = try Self.object(known)
    #expect(description["id"] as? String == "one" && description["width"] as? Int == 40)
    let urls = try #require(description["urls"] as? [String: Any])
    #expect((urls["dzi"] as? String)?.hasPrefix("https://example.org/base/") == true)
    #expect(unknown.status == 404 && unknown["Content-Type"] == "application/problem+json")
  }

  @Test func `the library is listed, and a wrong parameter is named`() throws {
    let good = ListHandler(context: try context("/api/images?limit=5"), images: images, isWritable: false)
      .list()
    let wrong = ListHandler(context: try context("/api/images?limit=x"), images: images, isWritable: false)
      .list()
    #expect(try Self.object(good)["total"] as? Int == 1)
    #expect(wrong.status == 400)
  }

  @Test func `a viewport lists the tiles of its level`() async throws {
    let query = "width=40&height=24&scale=1&x=0&y=0"
    func handler(_ query: String) throws -> ViewportHandler {
      ViewportHandler(
        context: try context("/api/images/one/viewport?\(query)"), images: images, pictures: pictures,
        originals: originals, mappedTiles: MemoryQuota(limit: 100))
    }
    let answer = try Self.object(await handler(query).coverage("one").response())
    #expect((answer["tiles"] as? [Any])?.count == 6)
    #expect(await (try handler("width=-1")).coverage("one").response().status == 400)
    #expect(await (try handler(query)).tiles("one").response()["Content-Type"] == ViewportHandler.framed)
    #expect(await (try handler(query)).picture("one", "gif").response().status == 404)
  }

  @Test func `an image has a manifest, and an unknown folder has none`() async throws {
    for (path, status) in [
      ("/iiif/presentation/3/one/manifest", 200), ("/iiif/presentation/3/two/manifest", 404),
      ("/iiif/presentation/3/collection", 200), ("/iiif/presentation/3/none", 404),
    ] {
      let context = try context(path)
      guard case .presentation(let request) = context.path.route else { continue }
      let handler = PresentationHandler(context: context, images: images, identity: SiteIdentity())
      #expect(await handler.reply(request).response().status == status, "\(path)")
    }
  }

  @Test func `an original that is not offered is not found`() async throws {
    let handler = OriginalHandler(
      context: try context("/api/images/one/original"), images: images, originals: originals)
    #expect(await handler.original("one").response().status == 404)
    #expect(await handler.animation("one").response().status == 404)
  }

  @Test func `a link to a page of an image is embedded by its frame`() async throws {
    let address = "https://example.org/base/view/one"
    let handler = EmbeddingHandler(
      context: try context("/oembed?url=\(address)&maxwidth=20"), images: images, identity: SiteIdentity())
    let answer = try Self.object(await handler.reply().response())
    #expect(answer["width"] as? Int == 20 && answer["height"] as? Int == 12)
    let other = EmbeddingHandler(
      context: try context("/oembed?url=https://example.net/view/one"), images: images,
      identity: SiteIdentity())
    #expect(await other.reply().response().status == 404)
  }

  @Test func `pages without files are not found`() throws {
    let handler = PageHandler(
      context: try context("/robots.txt"), images: images, files: nil, identity: SiteIdentity(),
      frameAncestors: nil
    )
    // The server has its own rules for crawlers.
    #expect(handler.page.status == 200)
    #expect(handler.embedPage.status == 404)
  }

  @Test func `a monitor gets metrics and a health status`() throws {
    func handler(hides: Bool) throws -> MonitoringHandler {
      var access = TileServerConfiguration()
      access.hidesMetrics = hides
      return MonitoringHandler(
        context: try context("/metrics"), images: images, access: access, metrics: metrics,
        disk: changes.disk,
        pictures: pictures, mappedTiles: MemoryQuota(limit: 1), uploads: nil, version: "1.2.3")
    }
    let figures = try handler(hides: false).metricsOrNothing
    guard case .bytes(let bytes) = figures.body else { return #expect(Bool(false), "figures are text") }
    #expect(String(decoding: bytes, as: UTF8.self).contains("\nziggurat_images 1\n"))
    #expect(try handler(hides: true).metricsOrNothing.status == 404)
    #expect(try handler(hides: false).health.status == 200)
  }

  @Test func `a change needs the token`() throws {
    for (principal, isPlan) in [(Principal.anyone, false), (Principal(mayWrite: true), true)] {
      let context = try context("/api/images/one", method: "PATCH", principal: principal)
      let edits = EditHandler(
        context: context, images: images, originals: originals, changes: changes,
        editor: LibraryEditor(images.library),
        trash: trash)
      let moves = MoveHandler(
        context: context, images: images, changes: changes,
        upkeep: SessionUpkeep(sessions, images.library, nil, purging: nil),
        passwords: PasswordAccess(spaces: nil, queue: BlockingQueue(capacity: 1)), uploads: nil)
      let copies = CopyHandler(context: context, images: images, changes: changes, uploads: nil)
      let restores = TrashHandler(context: context, images: images, changes: changes, trash: trash)
      for plan in [
        edits.plan(12..<15), edits.deletionsPlan(), moves.plan(12..<15), copies.plan(12..<15),
        restores.restorePlan("x"),
      ] {
        switch plan {
        case .refuse(let refusal): #expect(!isPlan && refusal.status == 401)
        case .collect: #expect(isPlan)
        case .stream: #expect(Bool(false), "no body is streamed")
        }
      }
      #expect(restores.list().status == (isPlan ? 200 : 401))
    }
  }

  @Test func `a server without uploads rejects them`() throws {
    let handler = UploadHandler(
      context: try context("/api/uploads", principal: Principal(mayWrite: true)), uploads: nil,
      events: UploadEventBroadcaster(),
      sessions: sessions, audit: changes.audit)
    #expect(handler.list().status == 404 && handler.one("x").status == 404 && handler.stream().status == 404)
    guard case .refuse(let refusal) = handler.plan(nil) else { return #expect(Bool(false), "it is refused") }
    #expect(refusal.status == 405)
  }

  @Test func `a phone is paired with a code, if the server has an address for it`() throws {
    for (address, status) in [(String?.none, 204), ("http://192.0.2.1:8080/", 200)] {
      let handler = PairingHandler(
        context: try context("/api/pairing.svg", principal: Principal(mayWrite: true)), codes: PairingCodes(),
        sessions: sessions, clock: { 0 }, localAddress: address)
      #expect(handler.reply().status == status)
    }
  }

  @Test func `an id has one URL, by which images are found`() throws {
    let handler = RenameHandler(context: try context("/api/images/one/viewport"), images: images)
    #expect(handler.toTheNewID == nil && handler.namedImages.contains("one"))
    #expect(handler.isImage("one") && !handler.isImage("one/viewport"))
  }

  @Test(
    arguments: [
      ("/api/images/one", ["PATCH", "DELETE"]), ("/api/images/one/move", ["POST"]),
      ("/api/images/one/viewport", []),
      ("/api/session", ["POST", "DELETE"]), ("/api/trash", ["POST"]), ("/api/uploads", ["POST"]),
      ("/api/uploads/x", ["PATCH", "DELETE"]), ("/api/images", []), ("/dzi/one.dzi", []),
    ])
  func `each path has its methods`(path: String, methods: [String]) throws {
    let route = try context(path).path.route
    #expect(AllowedMethods.writing(route, takesUploads: true, isWritable: true) == methods)
    let isSession = if case .api(.session) = route { true } else { false }
    #expect(AllowedMethods.writing(route, takesUploads: false).isEmpty == !isSession)
  }

  /// Every route, by every method that changes something: one that has no such method is refused, and ends nothing.
  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
  func `a change to a read-only resource is rejected`(method: String) throws {
    var access = TileServerConfiguration()
    access.isWritable = true
    let folder = try TemporaryFolder()
    let uploads = try Uploads(library: folder.path)
    for uploads in [nil, uploads] {
      let server = try TileServer(
        library: images.library, publicFolder: nil, access: access, uploads: uploads)
      for path in [
        "/api/uploads/a/b", "/api/uploads/", "/api/uploads", "/api/images", "/api/images/one/viewport",
        "/api/nothing",
        "/api/version", "/api/events", "/api/pairing.svg", "/api/trash/a/restore", "/api/trash/a/b/restore",
        "/api/session", "/dzi/one.dzi", "/view/one", "/healthz", "/metrics", "/", "/api/images/one/copies/x",
      ] {
        let request = Request(method: method, rawPath: Array(path.utf8))
        guard case .refuse(let refusal) = server.bodyPlan(for: RoutedRequest(request)) else { continue }
        #expect(
          [401, 403, 404, 405, 400, 412].contains(refusal.status), "\(method) \(path): \(refusal.status)")
      }
      server.stop()
    }
  }

  /// Returns the response of a plan that collects its body.
  private static func answer(_ plan: RequestBodyPolicy, _ request: Request) async throws -> Response {
    guard case .collect(_, _, let answer) = plan else {
      throw StorageError("collect a body", "the plan is another one")
    }
    return await answer(request).response()
  }

  @Test func `a change is rejected if the session ended while its body arrived`() async throws {
    var access = TileServerConfiguration()
    access.isWritable = true
    let principals = Authentication(sessions, access, OwnScheme())
    let id = sessions.begin(instead: SessionTableTests.request(nil)) { $0.hasToken = true }
    let headers = ["Cookie": "ziggurat-session=\(id)", "Sec-Fetch-Site": "same-origin"]
    let request = Request(method: "DELETE", rawPath: Array("/api/images/two".utf8)) { headers[$0] }
    let context = RequestContext(
      request, try NormalizedPath(request.rawPath, query: []), principal: principals.principal(request),
      at: ServerAddress(""), principals)
    let edits = EditHandler(
      context: context, images: images, originals: originals, changes: changes,
      editor: LibraryEditor(images.library),
      trash: trash)
    let plan = edits.plan(12..<15)
    #expect(try await Self.answer(plan, request).status == 404)
    sessions.end(request)
    #expect(try await Self.answer(plan, request).status == 401)
  }

  /// An image in a storage that cannot be reached.
  private struct AwaySource: LibrarySource {
    func version() -> Int { 1 }
    func images() -> [SourceImage] {
      let identity = FileIdentity(inode: 1, size: 1, modifiedNanoseconds: 0)
      return [
        SourceImage(id: "one", path: "one", identity: identity) { () throws(StorageError) in
          throw StorageError("open an archive", "there is no network", kind: .unreachable)
        }
      ]
    }
  }

  @Test(arguments: [("one", 503), ("two", 412)])
  func `an image that is unavailable is not reported as changed`(id: String, status: Int) async throws {
    let library = try ListRepository(AwaySource(), name: "away")
    let images = ImageAccess(
      library: library, catalogQueue: BlockingQueue(capacity: 4), metadataQueue: BlockingQueue(capacity: 4),
      originalQueue: BlockingQueue(capacity: 4), surrogateSeed: nil,
      cacheControl: CacheControlHeaders(maxAge: 0))
    var access = TileServerConfiguration()
    access.isWritable = true
    access.token = AccessToken("0123456789abcdef")
    let headers = ["If-Match": "\"version\"", "Authorization": "Bearer 0123456789abcdef"]
    let request = Request(method: "DELETE", rawPath: Array("/api/images/\(id)".utf8)) { headers[$0] }
    let context = RequestContext(
      request, try NormalizedPath(request.rawPath, query: []), principal: Principal(mayWrite: true),
      at: ServerAddress(""), Authentication(sessions, access, OwnScheme()))
    let edits = EditHandler(
      context: context, images: images, originals: originals, changes: changes,
      editor: LibraryEditor(library),
      trash: TrashAccess(library: Trash(library, keeps: 60), keeps: 60))
    #expect(try await Self.answer(edits.plan(12..<15), request).status == status)
  }
}
