import Foundation
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratThreads
import ZigguratTileProtocols

/// Finds what one request asks for.
struct Router {
  let site: Site
  private(set) var request: Request
  let path: PlainPath
  private(set) var visitor: Visitor
  /// How often something was waited for.
  private var waits = 0

  init(site: Site, request: Request, path: PlainPath, visitor: Visitor) {
    self.site = site
    self.request = request
    self.path = path
    self.visitor = visitor
  }

  func reply() -> Reply { knowing(namedImages) { $0.resource() } }

  private func resource() -> Reply {
    if let moved = toTheNewID { return .response(moved) }
    return switch path.route {
    case .tiles(let request): tiles(request)
    case .presentation(let request): presentation(request)
    case .api(let request): api(request)
    case .view(let id): view(path.id(id))
    case .embed(let id?): frame(path.id(id))
    case .embed(nil): .response(page("embed.html"))
    case .oEmbed: embedding()
    case .openAPI: .response(.json(site.apiDescription(base: request.publicBase)))
    case .health: .response(health)
    case .metrics: hidesMetrics ? .text(404, "there is nothing at this path") : .response(metrics())
    case .page: .response(isBase ? toTheGallery : file(path.text(1..<path.count)))
    }
  }

  private var health: Response {
    if site.library.isAway {
      var response = Response.text(503, "degraded: the library's folder cannot be reached")
      response["Retry-After"] = "1"
      return response
    }
    // What is known goes on being answered.
    if !site.library.unmountedFolders.isEmpty {
      return .text(200, "degraded: a folder of the library cannot be reached")
    }
    if site.library.count > 0, site.library.readableCount == 0 {
      return .text(200, "degraded: no archive of the library can be read")
    }
    if !site.library.unreadableFolders.isEmpty {
      return .text(200, "degraded: a folder of the library cannot be read")
    }
    if site.access.spaces?.isReadable == false {
      return .text(200, "degraded: the private spaces cannot be read")
    }
    if let shortage = site.diskShortage { return .text(200, "degraded: \(shortage.summary)") }
    if !site.library.catalog.isReachable { return .text(200, "degraded: the catalog cannot be reached") }
    return .text(200, site.library.sourceOutage.map { "degraded: \($0.summary)" } ?? "ok")
  }

  private var hidesMetrics: Bool { site.access.hidesMetrics && !request.isMonitor }

  /// A file of the page, or the server's own rules for crawlers if there is no such file.
  private func file(_ path: String) -> Response {
    let response = page(path)
    guard path == "robots.txt", response.status == 404 else { return response }
    return .json(Array(RobotsFile(below: site.basePath).text.utf8), "text/plain; charset=utf-8", maxAge: 3600)
  }

  func page(_ path: String, frames: FrameAncestors = .own, head: String = "") -> Response {
    guard let files = site.files else {
      return .text(
        404,
        path.isEmpty
          ? "the viewer's files are missing; --webroot names them" : "there is nothing at this path"
      )
    }
    return files.response(
      path.isEmpty ? "index.html" : path, acceptEncoding: request.header("Accept-Encoding") ?? "",
      frames: frames, head: head, below: request.publicBase.map(BasePath.init(of:)))
  }

  static func number(_ text: String) -> Int? {
    guard text.utf8.count < 12, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      text == "0" || !text.hasPrefix("0")
    else { return nil }
    return Int(text)
  }

  // MARK: API

  private func api(_ request: APIRequest) -> Reply {
    if let refusal = refusal(besides: request.parameters) { return .response(refusal) }
    return switch request {
    case .images: .response(list())
    case .image(let request): image(request)
    case .uploads: .response(uploadsElsewhere(request) ?? uploads())
    case .upload(let id): .response(uploadsElsewhere(request) ?? upload(id.map(path.text)))
    case .events: .response(uploadsElsewhere(request) ?? events())
    case .pairing: .response(pairingCode())
    case .version: .response(version)
    case .trash where site.access.isWritable: .response(listTrash())
    case .trash, .restore, .session, .nothing:
      .problem(404, "Not found", "there is no such part of the API")
    }
  }

  private func image(_ request: ImageRequest) -> Reply {
    let id = path.id(request.id)
    guard request.question != nil, let id, let place = place(id), isNoImage(place) else {
      return image(request, id)
    }
    // A question about a book is one about its cover.
    return rest(on: asksDatabase(about: id) ? site.reading : nil) { router in
      do throws(StorageError) {
        guard let cover = try router.cover(ofBook: id) else { return router.image(request, id) }
        return router.knowing([cover.id]) { $0.image(request, cover.id) }
      } catch { return .response(Self.unlisted(error)) }
    }
  }

  private func image(_ request: ImageRequest, _ id: ImageID?) -> Reply {
    switch request.question {
    case .viewport:
      found(id, problem: true) { id, archive in
        viewport(id, archive) { _, answer in .response(.json(answer.json)) }
      }
    case .viewportTiles:
      found(id, problem: true) { id, archive in
        viewport(id, archive) { router, answer in router.viewportTiles(answer, archive) }
      }
    case .viewportPicture(let ending):
      found(id, problem: true) { id, archive in
        let ending = path.text(ending)
        return saved(id, part: "view", ending: ending) { $0.viewportPicture(ending, archive) }
      }
    case .animation:
      found(id, problem: true) { id, archive in
        let ending = archive.buildRecord?.animation?.format.rawValue ?? ""
        return saved(id, ending: ending) { .response($0.animation(archive)) }
      }
    case .original: found(id, problem: true) { id, _ in original(id) }
    // A question to nobody who only reads.
    case .move, .copies, nil: describe(path.id(request.whole))
    }
  }

  private func viewport(
    _ id: ImageID, _ archive: TileArchive,
    _ reply: @escaping @Sendable (Router, ViewportAnswer) -> Reply
  ) -> Reply {
    let query = decodedQuery
    let answer: ViewportAnswer
    do throws(ViewportQuery.Refusal) {
      answer = try ViewportAnswer(
        ViewportQuery(query.parameters), id: id.text, archive: archive,
        base: base)
    } catch {
      return .response(query.problem(error.errors) ?? .problem("Bad parameter", error.errors))
    }
    if let problem = query.problem() { return .response(problem) }
    guard answer.query.include.contains(.description) else { return reply(self, answer) }
    return rest(on: queueToDescribe(id)) { router in
      let description = router.description(of: id)
      guard description.status == 200, case .bytes(let json) = description.body else {
        return .response(description)
      }
      var answer = answer
      answer.description = json
      let isForAll = description["Cache-Control"]?.hasPrefix("public") == true
      return isForAll ? reply(router, answer) : reply(router, answer).map(\.forNow)
    }
  }

  /// The library that has an image of this id for the visitor, and what the image is called there; nil for
  /// ids of a space that is not unlocked.
  func place(_ id: ImageID) -> (library: any ImageRepository, id: ImageID)? {
    guard let own = id.unmarked else { return (site.library, id) }
    return visitor.space.map { ($0.library, own) }
  }

  /// - Parameter id: nil where the request's is none, of which there is no image either.
  func found(_ id: ImageID?, problem: Bool, _ answer: (ImageID, TileArchive) -> Reply) -> Reply {
    let found = find(id, problem) { (id, place) throws(StorageError) in
      try place.library.archive(place.id, generation: namedGeneration).map { (id, $0) }
    }
    return switch found {
    case .success(let (id, archive)): keyed(answer(id, archive), id)
    case .failure(let refusal): .response(refusal.response)
    }
  }

  // MARK: Waiting

  /// Makes the rest of the reply when something has come.
  /// - Parameters:
  ///   - head: the response without its body, if it is known before.
  ///   - rest: makes the rest of the reply; it gets the router for any thread.
  func waiting(
    for pending: any Pending, head: Response? = nil, _ rest: @escaping @Sendable (Router) -> Reply
  ) -> Reply {
    guard waits < TileArchive.patience else { return .response(heldUp) }
    var router = self
    router.waits += 1
    router.request = request.detached
    return .task(head: head) { [router] in
      let start = ContinuousClock.now
      await pending.landed()
      let fetch = ResponseTiming("fetch", .now - start)
      guard !Task.isCancelled else { return router.heldUp }
      var response = await rest(router).response()
      response.timings.append(fetch)
      return response
    }
  }

  /// Makes the rest of the reply when it is known whether there are these images; at once if it is known, or cannot be known
  /// at present.
  private func knowing(
    _ ids: @autoclosure @escaping @Sendable () -> [ImageID], _ rest: @escaping @Sendable (Router) -> Reply
  ) -> Reply {
    let lookup = site.library.lookup(of: ids().filter { !$0.isPrivate }, generation: namedGeneration)
    guard let lookup else { return rest(self) }
    return waiting(for: lookup) { $0.knowing(ids(), rest) }
  }

  /// Makes the rest of the reply on a thread that may block, which an event loop must not.
  /// - Parameter queue: nil if the rest does not block; it is made at once then.
  func rest(on queue: BlockingQueue?, _ rest: @escaping @Sendable (Router) -> Reply) -> Reply {
    guard let queue else { return rest(self) }
    var router = self
    router.request = request.detached
    return queue.reply(for: request.client) { [router] in
      var router = router
      // The session may have ended meanwhile.
      router.visitor = router.site.visitor(router.request, isUse: false)
      return rest(router)
    }
  }

  /// The queue on which the metadata of an image are read; nil if they are in memory.
  func queueForMetadata(_ id: ImageID?) -> BlockingQueue? {
    guard let place = id.flatMap(place), let entry = try? place.library.entry(place.id), !entry.isQuick else {
      return nil
    }
    return site.words
  }

  /// Whether a database has to be asked what the id is: a book, or a page of which one.
  func asksDatabase(about id: ImageID?) -> Bool {
    id.flatMap(place).map { $0.library.asksDatabase(about: $0.id) } ?? false
  }

  /// What was asked for is there, but is not available at present.
  var heldUp: Response {
    guard case .api = path.route else { return .heldUp }
    return .problem(503, "Busy", Response.heldUpWords)
  }

  /// The generation that the query names.
  var namedGeneration: UInt64? {
    request.query.withUnsafeBytes { CacheLifetime.generation(in: $0) }
  }

  /// Whether there is surely no image of the id.
  func isNoImage(_ place: (library: any ImageRepository, id: ImageID)) -> Bool {
    do throws(StorageError) { return try place.library.entry(place.id) == nil } catch { return false }
  }

  /// Whether it cannot be told now that there is no image, or book, of the id.
  func isUntold(_ id: ImageID) -> Bool {
    !id.isPrivate && site.library.isUndecided(id)
  }

  /// A reply from what is known of the image, its metadata included.
  func known(
    _ id: ImageID?, problem: Bool,
    _ answer: @escaping @Sendable (Router, CatalogEntry, TileArchive) -> Response
  ) -> Reply {
    rest(on: queueForMetadata(id)) { router in
      .response(router.knownNow(id, problem: problem) { answer(router, $0, $1) })
    }
  }

  /// The same at once; it may block.
  func knownNow(
    _ id: ImageID?, problem: Bool, _ answer: (CatalogEntry, TileArchive) -> Response
  ) -> Response {
    let found = find(id, problem) { (id, place) throws(StorageError) in
      var found = try place.library.catalogEntry(place.id)
      if id.isPrivate, let entry = found?.entry.marked { found?.entry = entry }
      return found
    }
    switch found {
    case .failure(let refusal): return refusal.response
    case .success(let found):
      let response = keyed(answer(found.entry, found.archive), found.entry.id)
      return found.entry.isWordless ? response.forNow : response
    }
  }

  /// Why there is nothing to tell of.
  private struct Refusal: Error {
    let response: Response

    init(_ response: Response) { self.response = response }
  }

  private func find<Found>(
    _ id: ImageID?, _ problem: Bool,
    _ look: (ImageID, (library: any ImageRepository, id: ImageID)) throws(StorageError) -> Found?
  ) -> Result<Found, Refusal> {
    do throws(StorageError) {
      if let id, let place = place(id), let found = try look(id, place) { return .success(found) }
    } catch {
      // The reason names host paths, which are not a client's business.
      switch error.kind {
      case .notThere: break
      case .unreachable: return .failure(Refusal(heldUp))
      case .unreadable:
        let text = "the archive of this image cannot be read"
        let response: Response = problem ? .problem(500, "Unreadable", text) : .text(500, text)
        return .failure(Refusal(response.because(error)))
      }
    }
    if let id, isUntold(id) { return .failure(Refusal(heldUp)) }
    let text = "there is no image of this id"
    return .failure(Refusal(problem ? .problem(404, "Not found", text) : .text(404, text)))
  }
}
