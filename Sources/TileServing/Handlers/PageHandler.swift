import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// Serves the viewer's pages and static files.
struct PageHandler: LibraryHandler {
  var context: RequestContext
  let images: ImageAccess
  /// The files of the pages; nil if the server has none.
  let files: StaticFiles?
  let identity: SiteIdentity
  /// The sites that may frame an image; nil for the default of each page.
  let frameAncestors: FrameAncestors?

  /// Replies with the viewer's page of an image, or redirects to the cover of a book. If neither exists, the page
  /// explains the status 404 itself.
  func view(_ reference: ImageReference?) -> Reply {
    withSurrogateKey(rest(on: queueToShow(reference)) { .response($0.viewNow(reference)) }, reference)
  }

  /// Replies with the viewer alone. `--frame-ancestors` restricts the sites that may frame it.
  func frame(_ reference: ImageReference?) -> Reply {
    withSurrogateKey(rest(on: queueToShow(reference)) { .response($0.frameNow(reference)) }, reference)
  }

  /// Returns the queue on which the page of an image, or of a possible book, is made; nil if making it does not block.
  private func queueToShow(_ reference: ImageReference?) -> BlockingQueue? {
    if let queue = queueForMetadata(reference) { return queue }
    let mayBeBook = reference.flatMap(place).map(isNoImage) == true
    return mayBeBook && asksDatabase(about: reference) ? images.catalogQueue : nil
  }

  private func frameNow(_ reference: ImageReference?) -> Response {
    let found = found(reference)
    var response = page("frame.html", frames: frames(of: reference, unasked: .any))
    // A page that requires this header of its frames can then frame this one.
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

  /// Returns a redirect to the page of a book's cover. If there is no such book, sets the status of `response` and
  /// returns nil.
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

  /// Sets the status 404 of a page without an image, or 503 if the image's existence is unknown at present.
  private func isNotThere(_ response: inout Response, isUndecided: Bool) {
    response.status = 404
    // After a space is unlocked, the image may exist.
    response["Cache-Control"] = "no-store"
    guard isUndecided else { return }
    response.status = 503
    response["Retry-After"] = "1"
  }

  private func viewNow(_ reference: ImageReference?) -> Response {
    let found = found(reference)
    // Link previews never show private images.
    let isOpen = reference?.isPrivate == false
    let card = isOpen ? found.flatMap { OpenGraphMetadata($0, base: absoluteBase, identity) } : nil
    var response = page("view.html", frames: frames(of: reference, unasked: .own), head: card?.html ?? "")
    if response.status == 200, found == nil, let cover = coverPage(reference, below: "view", or: &response) {
      return cover
    }
    return found?.entry.isWordless == true ? response.uncacheable : response
  }

  /// Returns a file of the page, or the server's own rules for crawlers if there is no such file.
  private func file(_ path: String) -> Response {
    let response = page(path)
    guard path == "robots.txt", response.status == 404 else { return response }
    return .json(
      Array(RobotsFile(below: context.address.path).text.utf8), "text/plain; charset=utf-8", maxAge: 3600)
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

  /// Whether the path is the base path without the trailing slash, which the page's relative links need.
  private var isBase: Bool { path.text(0..<path.count) == context.address.path.text }

  private var toTheGallery: Response {
    let query = request.query.isEmpty ? "" : "?" + String(decoding: request.query, as: UTF8.self)
    return Response(
      308, [("Location", pathPrefix + "/" + query), ("Cache-Control", "no-store")], .bytes([]))
  }
}
