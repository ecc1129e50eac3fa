import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// The viewer's pages: of one image, alone for frames, and all other files.
struct PageHandler: LibraryHandler {
  var call: Call
  let images: ImageAccess
  /// The files of the pages; nil if the server has none.
  let files: StaticFiles?
  let identity: SiteIdentity
  /// The sites that may frame an image; nil for the default of each page.
  let frameAncestors: FrameAncestors?

  /// The viewer's page, of a book its cover's; with 404 where there is no such image, which the page then says in its own words.
  func view(_ reference: ImageReference?) -> Reply {
    withSurrogateKey(rest(on: queueToShow(reference)) { .response($0.viewNow(reference)) }, reference)
  }

  /// The viewer alone, which other sites may frame as far as `--frame-ancestors` lets them.
  func frame(_ reference: ImageReference?) -> Reply {
    withSurrogateKey(rest(on: queueToShow(reference)) { .response($0.frameNow(reference)) }, reference)
  }

  /// The queue on which the page of an image, or of what may be a book, is made; nil if that does not block.
  private func queueToShow(_ reference: ImageReference?) -> BlockingQueue? {
    if let queue = queueForMetadata(reference) { return queue }
    let mayBeBook = reference.flatMap(place).map(isNoImage) == true
    return mayBeBook && asksDatabase(about: reference) ? images.catalogQueue : nil
  }

  private func frameNow(_ reference: ImageReference?) -> Response {
    let found = found(reference)
    var response = page("frame.html", frames: frames(of: reference, unasked: .any))
    // Or pages that ask this of all that they hold could not frame it.
    response.headers.append(("Cross-Origin-Embedder-Policy", "require-corp"))
    if response.status == 200, found == nil, let cover = coverPage(reference, below: "embed", or: &response) {
      return cover
    }
    return found?.entry.isWordless == true ? response.uncacheable : response
  }

  /// Returns the sites that may frame the page of an image. Only this server frames private images.
  private func frames(of reference: ImageReference?, unasked: FrameAncestors) -> FrameAncestors {
    reference?.isPrivate == true ? .own : frameAncestors ?? unasked
  }

  private func found(_ reference: ImageReference?) -> FoundEntry? {
    guard let reference, let place = place(reference),
      let entry = (try? place.library.catalogEntry(place.id))?.entry
    else { return nil }
    return FoundEntry(entry, in: reference.repository)
  }

  /// Returns a redirect to the page of a book's cover; nil if there is no such book, which the other page then says.
  private func coverPage(
    _ reference: ImageReference?, below folder: String, or response: inout Response
  ) -> Response? {
    var cover: FoundEntry?
    do throws(StorageError) {
      if let reference { cover = try self.cover(ofBook: reference) }
    } catch {
      isNotThere(&response, isUndecided: true)
      return nil
    }
    guard let cover else {
      isNotThere(&response, isUndecided: reference.map(isUndecided) == true)
      return nil
    }
    let segment = PercentEncoding.encode(cover.reference.text)
    return Response(
      303, [("Location", "\(pathPrefix)/\(folder)/\(segment)"), ("Cache-Control", "no-store")],
      .bytes([]))
  }

  /// The page tells itself that there is no such picture; of one that cannot be asked for it says so.
  private func isNotThere(_ response: inout Response, isUndecided: Bool) {
    response.status = 404
    // It may be there for who unlocks a space next.
    response["Cache-Control"] = "no-store"
    guard isUndecided else { return }
    response.status = 503
    response["Retry-After"] = "1"
  }

  private func viewNow(_ reference: ImageReference?) -> Response {
    let found = found(reference)
    // A private picture is nobody's to preview.
    let isOpen = reference?.isPrivate == false
    let card = isOpen ? found.flatMap { OpenGraphMetadata($0, base: absoluteBase, identity) } : nil
    var response = page("view.html", frames: frames(of: reference, unasked: .own), head: card?.html ?? "")
    if response.status == 200, found == nil, let cover = coverPage(reference, below: "view", or: &response) {
      return cover
    }
    return found?.entry.isWordless == true ? response.uncacheable : response
  }

  /// A file of the page, or the server's own rules for crawlers if there is no such file.
  private func file(_ path: String) -> Response {
    let response = page(path)
    guard path == "robots.txt", response.status == 404 else { return response }
    return .json(
      Array(RobotsFile(below: call.address.path).text.utf8), "text/plain; charset=utf-8", maxAge: 3600)
  }

  private func page(_ path: String, frames: FrameAncestors = .own, head: String = "") -> Response {
    guard let files else {
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

  /// A file of the page, or the redirect from the base path to the gallery.
  var page: Response { isBase ? toTheGallery : file(path.text(1..<path.count)) }

  /// The page that shows how images are embedded.
  var embedPage: Response { page("embed.html") }

  /// Whether the path is the base's own, without the slash by which a page's relative links are below it.
  private var isBase: Bool { path.text(0..<path.count) == call.address.path.text }

  private var toTheGallery: Response {
    let query = request.query.isEmpty ? "" : "?" + String(decoding: request.query, as: UTF8.self)
    return Response(
      308, [("Location", pathPrefix + "/" + query), ("Cache-Control", "no-store")], .bytes([]))
  }
}
