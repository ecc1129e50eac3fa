import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Refuses changes while the library is unavailable. It also refuses requests of a cache that looks for the writer
/// (`Ziggurat-Require-Writer: ?1`), so that the cache tries the next server. Each server of a folder is a writer.
struct WriterRequirement: Middleware {
  let library: any ImageRepository
  let isWritable: Bool

  func respond(to request: RoutedRequest, next: @escaping Next) -> Reply {
    refusal(of: request).map { .response($0) } ?? next(request)
  }

  func refusal(of request: RoutedRequest) -> Response? {
    let isChange = !request.request.isRead && request.method != "OPTIONS" && !request.isOfSession
    // A write now would end up in the empty folder below the mount point.
    if isChange, library.isAway { return Response.catalogError(.libraryIsAway).withNoStore }
    guard library.hasOneWriter, request.request.requiresWriter else { return nil }
    return library.catalog.isWriter && isWritable ? nil : Response.unknownWriter.withNoStore
  }
}

extension Request {
  /// Whether only the writer may respond.
  fileprivate var requiresWriter: Bool {
    let former = DeprecatedNames.writerHeader
    return header("Ziggurat-Require-Writer") == "?1" || header(former.name) == former.value
  }
}
