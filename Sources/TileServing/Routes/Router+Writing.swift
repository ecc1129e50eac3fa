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
    case .images, .events, .pairing, .version, .nothing: .refuse(methodNotAllowed)
    }
  }

  static var unknownWriter: Response {
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
    guard site.access.isWritable, !catalog.isWriter else { return nil }
    switch request {
    case .image, .trash, .restore, .uploads, .events: break
    // What came before another server began to write ends here.
    case .upload(let id): if let id, site.uploads?.upload(path.text(id)) != nil { return nil }
    case .images, .pairing, .version, .session, .nothing: return nil
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
