import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols
import ZigguratUploading

/// Redirects changes to the server that accepts them, of those that share a catalog.
struct WriterRedirect: Sendable {
  let catalog: Catalog
  let isWritable: Bool
  let uploads: Uploads?

  /// Returns the redirect, or why there is none at present; nil if the request is answered here.
  func response(to asked: APIRequest, _ call: Call) -> Response? {
    guard isWritable, !catalog.isWriter else { return nil }
    switch asked {
    case .image, .trash, .restore, .uploads, .events: break
    // What came before another server began to write ends here.
    case .upload(let id): if let id, uploads?.upload(call.path.text(id)) != nil { return nil }
    case .images, .pairing, .version, .session, .nothing: return nil
    }
    let url = catalog.writerURL
    // Who may write into the database says it.
    let isURL =
      (url.hasPrefix("http://") || url.hasPrefix("https://")) && url.utf8.count <= 1000
      && url.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    guard isURL else { return .unknownWriter }
    let query = call.request.query
    let target =
      url + PercentEncoding.mended(call.request.rawPath)
      + (query.isEmpty ? "" : "?\(PercentEncoding.mended(query))")
    var response = Response.text(
      307, "changes are accepted at \(url); many clients send no token there (curl: --location-trusted)")
    response["Location"] = target
    return response
  }

  /// The same for a request that reads the state of uploads, which only the server that has them knows.
  /// - Parameter refusal: the response to a visitor who may not know of uploads.
  func response(toReadOf asked: APIRequest, _ call: Call, refusal: Response?) -> Response? {
    // Who listens goes on listening here while it is not known who writes.
    if case .events = asked, catalog.writerURL.isEmpty { return nil }
    return response(to: asked, call).map { refusal ?? $0.madePrivate }
  }
}

extension Response {
  static var unknownWriter: Response {
    var response = Response.problem(
      503, "Busy",
      "no server that accepts changes is known at present; try again (such a server needs --writable and --advertise-url)"
    )
    response["Retry-After"] = "1"
    return response
  }
}
