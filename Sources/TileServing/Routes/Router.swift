import Foundation
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Finds what one request asks for.
struct Router {
  let site: Site
  private(set) var request: Request
  let path: PlainPath
  let visitor: Visitor
  /// Whether this is no event loop, which must not wait: it has tiles to send.
  let mayWait: Bool
  /// How often tiles were waited for.
  private var arrivals = 0

  init(site: Site, request: Request, path: PlainPath, visitor: Visitor, mayWait: Bool = true) {
    self.site = site
    self.request = request
    self.path = path
    self.visitor = visitor
    self.mayWait = mayWait
  }

  func answer() -> Answer {
    if let later = asking(for: namedImages) { return later }
    if let moved = toTheNewID { return .now(moved) }
    return switch path.route {
    case .tiles(let request): tiles(request)
    case .presentation(let request): presentation(request)
    case .api(let request): api(request)
    case .view(let id): view(path.id(id))
    case .embed(let id?): frame(path.id(id))
    case .embed(nil): .now(page("embed.html"))
    case .oEmbed: embedding()
    case .openAPI: .now(.json(site.apiDescription(base: request.publicBase)))
    case .health: .now(health)
    case .metrics: hidesMetrics ? .text(404, "there is nothing at this path") : .now(metrics())
    case .page: .now(isBase ? toTheGallery : file(path.text(1..<path.count)))
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

  private func api(_ request: APIRequest) -> Answer {
    if let refusal = refusal(besides: request.parameters) { return .now(refusal) }
    return switch request {
    case .images: .now(list())
    case .image(let image): answer(image)
    case .uploads: .now(uploadsElsewhere(request) ?? uploads())
    case .upload(let id): .now(uploadsElsewhere(request) ?? upload(id.map(path.text)))
    case .events: .now(uploadsElsewhere(request) ?? events())
    case .pairing: .now(pairingCode())
    case .version: .now(version)
    case .trash where site.access.isWritable: .now(listTrash())
    case .trash, .restore, .session, .nothing:
      .problem(404, "Not found", "there is no such part of the API")
    }
  }

  private func answer(_ image: ImageRequest) -> Answer {
    var id = path.id(image.id)
    // Of a book its cover is looked at.
    if image.question != nil, let book = id, let place = place(book), isNoImage(place) {
      if let later = waitingForCatalog(book) { return later }
      do throws(StorageError) {
        if let cover = try cover(ofBook: book) {
          id = cover.id
          if let later = asking(for: [cover.id]) { return later }
        }
      } catch { return .now(Self.unlisted(error)) }
    }
    return switch image.question {
    case .viewport:
      found(id, problem: true) { id, archive in viewport(id, archive) { .now(.json($0.json)) } }
    case .viewportTiles:
      found(id, problem: true) { id, archive in viewport(id, archive) { viewportTiles($0, archive) } }
    case .viewportPicture(let ending):
      found(id, problem: true) { id, archive in
        saved(id, part: "view", ending: path.text(ending)) { viewportPicture(path.text(ending), archive) }
      }
    case .animation:
      found(id, problem: true) { id, archive in
        let ending = archive.buildRecord?.animation?.format.rawValue ?? ""
        return saved(id, ending: ending) { .now(animation(archive)) }
      }
    case .original: found(id, problem: true) { id, _ in original(id) }
    // A question to nobody who only reads.
    case .move, .copies, nil: describe(path.id(image.whole))
    }
  }

  private func viewport(
    _ id: ImageID, _ archive: TileArchive, _ tell: (ViewportAnswer) -> Answer
  ) -> Answer {
    let query = decodedQuery
    do throws(ViewportQuery.Refusal) {
      var answer = try ViewportAnswer(
        ViewportQuery(query.parameters), id: id.text, archive: archive,
        base: base)
      if let problem = query.problem() { return .now(problem) }
      guard answer.query.include.contains(.description) else { return tell(answer) }
      if let later = waitingToDescribe(id) { return later }
      let description = description(of: id)
      guard description.status == 200, case .bytes(let json) = description.body else {
        return .now(description)
      }
      answer.description = json
      let isForAll = description["Cache-Control"]?.hasPrefix("public") == true
      return isForAll ? tell(answer) : tell(answer).map(\.forNow)
    } catch {
      return .now(query.problem(error.errors) ?? .problem("Bad parameter", error.errors))
    }
  }

  /// The library that has an image of this id for the visitor, and what the image is called there; nil for
  /// ids of a space that is not unlocked.
  func place(_ id: ImageID) -> (library: any ImageRepository, id: ImageID)? {
    guard let own = id.unmarked else { return (site.library, id) }
    return visitor.space.map { ($0.library, own) }
  }

  /// - Parameter id: nil where the request's is none, of which there is no image either.
  func found(_ id: ImageID?, problem: Bool, _ answer: (ImageID, TileArchive) -> Answer) -> Answer {
    let found = find(id, problem) { (id, place) throws(StorageError) in
      try place.library.archive(place.id, generation: namedGeneration).map { (id, $0) }
    }
    return switch found {
    case .success(let (id, archive)): keyed(answer(id, archive), id)
    case .failure(let refusal): .now(refusal.response)
    }
  }

  /// The answer that is made once a tile can be asked for again.
  /// - Parameters:
  ///   - promised: without its body, where that is known before.
  ///   - isFound: by `Site.tile`, so that who can asks that again.
  func waiting(
    for arrival: TileArrival, _ promised: Response? = nil, isFound: Bool = false,
    _ answer: @escaping @Sendable (Router) -> Answer
  ) -> Answer {
    guard arrivals < TileArchive.patience else { return .now(heldUp) }
    var next = self
    next.arrivals += 1
    next.request = request.detached
    let later = Later(promised: promised) { [next] waiter in
      if isFound, let askAgain = waiter.askAgain { return arrival.whenHere(isQuick: true, askAgain) }
      let asked = ContinuousClock.now
      arrival.whenHere {
        guard waiter.isThere() else { return waiter.take(next.heldUp) }
        let fetch = ResponseTiming("fetch", .now - asked)
        answer(next).map { response in
          var response = response
          response.timings.append(fetch)
          return response
        }.give(to: waiter)
      }
    }
    return .later(later)
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

  /// All of the answer, once it is known whether there are such images; nil where it is known, or cannot be now.
  private func asking(for ids: @autoclosure () -> [ImageID]) -> Answer? {
    let arrival = site.library.arrival(of: ids().filter { !$0.isPrivate }, generation: namedGeneration)
    guard let arrival else { return nil }
    return waiting(for: arrival) { $0.answer() }
  }

  /// All of the answer, made by a queue's thread.
  func later(in queue: AnswerQueue) -> Answer {
    let request = request.detached
    return .later(
      queue.later(for: request.client) { [site, path] in
        // The session may have ended meanwhile.
        let visitor = site.visitor(request, isUse: false)
        return Router(site: site, request: request, path: path, visitor: visitor).answer()
      })
  }

  /// Whether there is surely no image of the id.
  func isNoImage(_ place: (library: any ImageRepository, id: ImageID)) -> Bool {
    do throws(StorageError) { return try place.library.entry(place.id) == nil } catch { return false }
  }

  /// Whether it cannot be told now that there is no image, or book, of the id.
  func isUntold(_ id: ImageID) -> Bool {
    !id.isPrivate && site.library.isUndecided(id)
  }

  /// All of the answer, made by a thread that may wait, where words of the image are to be waited for; nil where
  /// they are not.
  func waiting(for id: ImageID?) -> Answer? {
    guard !mayWait, let place = id.flatMap(place),
      let entry = try? place.library.entry(place.id), !entry.isQuick
    else {
      return nil
    }
    return later(in: site.words)
  }

  /// The same where a database of many servers is to be asked for what is told of the id: whether it is a book, or in
  /// which one it is a page.
  func waitingForCatalog(_ id: ImageID?) -> Answer? {
    guard !mayWait, let place = id.flatMap(place), place.library.asksDatabase(about: place.id) else {
      return nil
    }
    return later(in: site.reading)
  }

  /// The same with what is known of the image, its sidecar's words among it.
  func known(
    _ id: ImageID?, problem: Bool, _ answer: (CatalogEntry, TileArchive) -> Response
  ) -> Answer {
    waiting(for: id) ?? .now(knownNow(id, problem: problem, answer))
  }

  /// The same on a thread that may wait.
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
