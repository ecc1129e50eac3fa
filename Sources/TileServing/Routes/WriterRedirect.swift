import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols
import ZigguratUploading

/// Redirects changes to the writer among the servers that share a catalog.
struct WriterRedirect: Sendable {
  let catalog: Catalog
  let isWritable: Bool
  let uploads: Uploads?

  /// Returns the redirect or, if the writer is unknown, an error; `nil` if this server handles the request.
  func response(to asked: APIRequest, _ context: RequestContext) -> Response? {
    guard isWritable, !catalog.isWriter else { return nil }
    switch asked {
    case .image, .trash, .restore, .uploads, .events: break
    // Uploads that started here before another server became the writer end here.
    case .upload(let id): if let id, uploads?.upload(context.path.text(id)) != nil { return nil }
    case .images, .pairing, .version, .session, .nothing: return nil
    }
    let url = catalog.writerURL
    // The URL comes from the database and is therefore validated.
    let isURL =
      (url.hasPrefix("http://") || url.hasPrefix("https://")) && url.utf8.count <= 1000
      && url.utf8.allSatisfy { 0x21...0x7e ~= $0 }
    guard isURL else { return .unknownWriter }
    let query = context.request.query
    let target =
      url + PercentEncoding.repaired(context.request.rawPath)
      + (query.isEmpty ? "" : "?\(PercentEncoding.repaired(query))")
    var response = Response.text(
      307, "changes are accepted at \(url); many clients send no token there (curl: --location-trusted)")
    response["Location"] = target
    return response
  }

  /// Returns the redirect or error for a request that reads the state of uploads, which only the receiving server
  /// knows.
  ///
  /// - Parameter refusal: the response to a principal that may not see uploads.
  func response(toReadOf asked: APIRequest, _ context: RequestContext, refusal: Response?) -> Response? {
    // Listeners stay connected to this server while the writer is unknown.
    if case .events = asked, catalog.writerURL.isEmpty { return nil }
    return response(to: asked, context).map { refusal ?? $0.withNoStore }
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
