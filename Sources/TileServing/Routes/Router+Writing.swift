import ZigguratCatalog
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Where requests that may change something go. The answer that a plan brings along runs on a worker and may
/// wait for disks.
extension Router {
  func bodyPlan() -> BodyPlan {
    guard case .api(let request) = path.route else { return .refuse(methodNotAllowed) }
    if let elsewhere = elsewhere(request) {
      // Who may change nothing need not go anywhere for that.
      let refusal = visitor.mayWriteToSpace ? nil : visitor.refusal(toChange: .library, self.request)
      return .refuse((refusal ?? elsewhere).madePrivate)
    }
    return switch request {
    case .session: .collect { [site] in site.sessionAnswer($0) }
    case .uploads: uploadPlan(nil)
    case .upload(let id): id.map { uploadPlan(path.text($0)) } ?? .refuse(methodNotAllowed)
    case .image(let image): plan(for: image)
    case .trash: deletionsPlan()
    case .restore(let deletion): restorePlan(path.text(deletion))
    case .images, .events, .pairing, .nothing: .refuse(methodNotAllowed)
    }
  }

  fileprivate static var unknownWriter: Response {
    var response = Response.problem(
      503, "Busy",
      "no server that accepts changes is known at present; try again (such a server needs --writable and --advertise-url)"
    )
    response["Retry-After"] = "1"
    return response
  }

  /// What changes the library goes to the server that writes, of those that share a catalog.
  func elsewhere(_ request: APIRequest) -> Response? {
    let catalog = site.library.catalog
    guard site.access.isWritable, site.library.asksForImages, !catalog.isWriter else { return nil }
    switch request {
    case .image, .trash, .restore, .uploads, .events: break
    // What came before another server began to write ends here.
    case .upload(let id): if let id, site.uploads?.upload(path.text(id)) != nil { return nil }
    case .images, .pairing, .session, .nothing: return nil
    }
    let url = catalog.writerURL
    // Who may write into the database says it.
    let isURL =
      (url.hasPrefix("http://") || url.hasPrefix("https://")) && url.utf8.count <= 1000
      && url.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    guard isURL else { return Self.unknownWriter }
    let query = self.request.query
    let target =
      url + PercentEncoding.mended(self.request.rawPath)
      + (query.isEmpty ? "" : "?\(PercentEncoding.mended(query))")
    var response = Response.text(
      307, "changes are accepted at \(url); many clients send no token there (curl: --location-trusted)")
    response["Location"] = target
    return response
  }
}

extension Site {
  /// Returns the answer to a cache that looks for the server which takes changes (`Ziggurat-Require-Writer: ?1`), so that it
  /// asks the next one; nil at that one, and to all other requests. Each server of a folder takes changes.
  func refusalOfWriting(_ request: Request) -> Response? {
    // What was written now would lie in the empty folder below the share.
    if library.isAway, !request.isRead, request.method != "OPTIONS", request.rawPath != Self.sessionPath {
      return Router.unlisted(Library.outageError).madePrivate
    }
    guard library.asksForImages, request.requiresWriter else { return nil }
    return library.catalog.isWriter && access.isWritable ? nil : Router.unknownWriter.madePrivate
  }
}

extension Request {
  /// Whether only the server that takes changes is to answer.
  fileprivate var requiresWriter: Bool {
    let former = FormerNames.writerHeader
    return header("Ziggurat-Require-Writer") == "?1" || header(former.name) == former.value
  }
}
