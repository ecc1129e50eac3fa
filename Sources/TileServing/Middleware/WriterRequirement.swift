import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Refuses changes while the library is away, and answers a cache that looks for the server which takes changes
/// (`Ziggurat-Require-Writer: ?1`), so that it asks the next one. Each server of a folder takes changes.
struct WriterRequirement: Middleware {
  let library: any ImageRepository
  let isWritable: Bool

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    refusal(of: request).map { .response($0) } ?? next(request)
  }

  func refusal(of request: RoutedRequest) -> Response? {
    let isChange = !request.request.isRead && request.method != "OPTIONS" && !request.isOfSession
    // What was written now would lie in the empty folder below the share.
    if isChange, library.isAway { return Response.unlisted(.libraryIsAway).madePrivate }
    guard library.hasOneWriter, request.request.requiresWriter else { return nil }
    return library.catalog.isWriter && isWritable ? nil : Response.unknownWriter.madePrivate
  }
}

extension Request {
  /// Whether only the server that takes changes is to answer.
  fileprivate var requiresWriter: Bool {
    let former = FormerNames.writerHeader
    return header("Ziggurat-Require-Writer") == "?1" || header(former.name) == former.value
  }
}
