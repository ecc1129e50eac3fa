package import Files
package import HTTPMessages
package import ImageLibrary
package import Synchronization
import TileProtocols
import TileRendering
import TileStorage
package import Uploading

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
  let rendering: RenderOptions
  let renderer: RenderCells
  /// Where answers that have to be rendered are made.
  package let renders: RenderQueue
  package let loops = EventLoops()
  /// Tiles of folders in answers that are not sent: half of what the system lets be mapped, and of that enough for
  /// one client to have the largest answer.
  let mappedTiles = HeldMemory(limit: max(2 * ViewportAnswer.tileLimit, MappedFile.places / 2))
  /// Where requests that change something are obeyed.
  package let writes = WriteQueue()
  /// What only the catalog knows.
  let reading = WorkQueue("reading", capacity: 256)
  /// What sidecars say of images, where that is not in memory yet: a cell reads it, or does not.
  let words = WorkQueue("words", capacity: 256)
  /// CSS pixels along a side of a viewport query's window, at most.
  let viewportSide: Int
  /// Of the program.
  let version: String
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
  /// One password at a time: each takes a quarter of a gigabyte.
  let unlocking = WorkQueue("unlocking", capacity: 8)

  package init(
    library: Library, publicFolder: String?, baseURL: String = "", rendering: RenderOptions = RenderOptions(),
    viewportSide: Int = 32768, gate: Gate? = nil, access: Access = Access(), uploads: Uploads? = nil,
    version: String = "0"
  ) throws(StorageError) {
    (self.gate, self.access) = (gate, access)
    (self.library, self.uploads) = (library, uploads)
    self.rendering = rendering
    (self.viewportSide, self.version) = (viewportSide, version)
    var options = TileRenderer.Options()
    (options.quality, options.cacheBytes) = (rendering.quality, rendering.cacheBytes / 2)
    // As many as are at work most of the time: the lane of quick pictures. The queue gives up first.
    let cells = RenderCells(
      options: options, threads: rendering.threads + 1, timeout: Int(rendering.timeout.rounded(.up)) + 5)
    renderer = cells
    let seconds: @Sendable () -> Double = { cells.seconds }
    renders = RenderQueue(rendering, loops, secondsElsewhere: cells.isElsewhere ? seconds : nil) {
      cells.sweep()
    }
    sessions = SessionTable(
      limits: access.sessions, cookie: SessionCookie(isSecure: baseURL.hasPrefix("https:")),
      now: access.clock,
      locked: { [renders, renderer] in
        // What was made of private pictures is not kept longer than their keys.
        renders.forget()
        renderer.forget()
        access.audit?.add(.lock, client: nil, visitor: nil)
      }, ended: { [events] in events.endWithSessions() })
    (editor, trash) = (LibraryEditor(library), Trash(library, keeps: access.keepsDeleted))
    files = try publicFolder.map { (folder) throws(StorageError) in try StaticFiles(root: folder) }
    base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    uploads?.observe { [events] upload in
      events.tell(upload)
      if upload.hasEnded { access.audit?.add(.uploaded(upload), client: nil, visitor: nil) }
    }
  }

  /// Looks a stored tile up by its path alone, as sent; touches no string or object on the way.
  /// - Parameters:
  ///   - route: of the path.
  ///   - cookies: the Cookie header, asked for where the path names a private image.
  package func tile(
    _ route: Route, _ rawPath: UnsafeRawBufferPointer, cookies: () -> UnsafePointer<CChar>?
  ) -> TileLookup {
    guard case .tiles(let request) = route else { return .other }
    if let gate, !gate.admits(cookies()) { return .other }
    let path = RawPath(rawPath)
    let rawID = path.bytes(request.id)
    return withUnsafeTemporaryAllocation(byteCount: rawID.count, alignment: 1) { buffer in
      // An id that is damaged or unknown, and every failure, is told by the way with words.
      guard var id = Self.unescape(rawID, into: buffer), !id.isEmpty else { return .other }
      var library = self.library
      let isPrivate = RawPath(id).starts(with: SpaceLibrary.prefix)
      if isPrivate {
        guard let cookies = cookies(), let space = sessions.space(cookies: cookies) else { return .other }
        library = space.library
        id = UnsafeRawBufferPointer(rebasing: id[SpaceLibrary.prefix.utf8CodeUnitCount...])
      }
      let limits = rendering.limits
      guard let archive = (try? library.archive(id)) ?? nil,
        case let place = request.place(in: archive.pyramid, limits), case .stored(let address) = place,
        let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
        request.format == PictureFormat(archive.format),
        let (bytes, stamp) = archive.stampedTile(number)
      else { return .other }
      return .found(
        TileReply(
          bytes: bytes, archive: Unmanaged.passRetained(archive), generation: archive.generation,
          stamp: stamp, tile: number, mediaType: archive.format.mediaTypeCharacters,
          link: request.link(path, to: place, in: archive.pyramid, limits),
          isPrivate: isPrivate || gate != nil))
    }
  }

  /// Answers everything else, and says why a tile could not be had.
  package func respond(to request: Request) -> Answer {
    // The database may take its time, and the event loop has none.
    let isOfCatalog = (try? PlainPath(request.rawPath))?.route.isOfCatalog ?? false
    return finished(
      isOfCatalog ? later(request, in: reading) : answer(request, mayWait: false), for: request)
  }

  /// The answer as it is sent: under the request's conditions, with what browsers are to do with it, and now where
  /// nothing is to be waited for.
  package func finished(_ answer: Answer, for request: Request) -> Answer {
    var answer = shared(answer, with: request)
    if request.isRead { answer = answer.answering(request.conditions) }
    return answer.map(\.withCaution).settled
  }

  /// All of the answer to a request, made by a queue's thread.
  func later(_ request: Request, in queue: WorkQueue) -> Answer {
    let request = request.detached
    return .later(queue.later(for: request.client) { [self] in answer(request, mayWait: true) })
  }

  private func answer(_ request: Request, mayWait: Bool) -> Answer {
    guard let gate else { return openResponse(to: request, mayWait: mayWait) }
    let isAdmitted = gate.admits(cookies: request.header("Cookie"))
    let answer =
      isAdmitted
      ? openResponse(to: request, mayWait: mayWait) : .now(gate.answer(request, base: base))
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
    return Visitor(session, isWritable: access.isWritable)
  }

  /// What is wanted of the body of a POST, PUT, PATCH or DELETE, by its headers.
  package func bodyPlan(for request: Request) -> BodyPlan {
    if let gate {
      let isAdmitted = gate.admits(cookies: request.header("Cookie"))
      return .refuse((isAdmitted ? .methodNotAllowed : gate.answer(request, base: base)).madePrivate)
    }
    do throws(PlainPath.Refusal) {
      return try Router(site: self, request: request, visitor: visitor(request)).bodyPlan()
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

  /// The unlocked space of that identity, as long as a session has it.
  package func space(of identity: String) -> SpaceLibrary? { sessions.space(of: identity) }

  /// Whether what visitors search for may be logged: of private spaces nothing is.
  package var logsWords: Bool { access.spaces == nil && gate == nil }

  /// Makes no more answers; afterwards nobody waits for one. Forgets the keys of all spaces.
  package func stop() {
    writes.stop()
    unlocking.stop()
    reading.stop()
    words.stop()
    renders.stop()
    sessions.lockSpaces()
  }

  private func openResponse(to request: Request, mayWait: Bool) -> Answer {
    if request.rawPath == Self.sessionPath { return sessionAnswer(request) }
    switch request.method {
    case "OPTIONS":
      let answer =
        preflight(request)
        ?? (try? Router(site: self, request: request, visitor: .anyone))?.uploadOptions()
      return .now(answer ?? .options)
    case "GET", "HEAD": break
    default: return .now(.methodNotAllowed)
    }
    let visitor = visitor(request)
    let answer: Answer
    do throws(PlainPath.Refusal) {
      answer = try Router(site: self, request: request, visitor: visitor, mayWait: mayWait).answer()
    } catch { answer = .text(error.status, error.text) }
    let encoding = request.header("Accept-Encoding")
    let (isInSpace, hasSpaces) = (visitor.space != nil, access.spaces != nil)
    // Two who edit one image at once are told, in a space as in the library.
    let isImage = request.rawPath.starts(with: "/api/images/".utf8)
    return answer.map { response in
      var response = response.compressed(for: encoding)
      // All of them may tell of a space: what is the same for everybody is not kept either.
      if isInSpace {
        return response.madePrivate(
          keepingTag: isImage && response["Content-Type"] == "application/json")
      }
      if hasSpaces { response.vary(by: "Cookie") }
      return response
    }
  }

  /// Percent-decodes into `buffer`; nil where an escape is malformed or stands for NUL.
  private static func unescape(
    _ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    var (at, count) = (0, 0)
    while at < text.count {
      var byte = text[at]
      at += 1
      if byte == UInt8(ascii: "%") {
        guard at + 1 < text.count, let high = PercentEncoding.hexDigit(text[at]),
          let low = PercentEncoding.hexDigit(text[at + 1])
        else { return nil }
        byte = high << 4 | low
        at += 2
      }
      guard byte != 0 else { return nil }
      buffer[count] = byte
      count += 1
    }
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }
}
