import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratUploading

/// Serves `/api/uploads`: the resumable upload protocol tus 1.0 (https://tus.io/protocols/resumable-upload) with the
/// extensions creation, creation-with-upload, expiration and termination. Also serves the status of uploads.
struct UploadHandler: Handler {
  var context: RequestContext
  /// The uploads; nil if the server accepts none.
  let uploads: Uploads?
  let events: UploadEventBroadcaster
  let sessions: SessionTable
  let audit: AuditTrail

  private static let noUploads = Response.problem(404, "Not found", "this server does not accept uploads")
  private static let unknown = Response.problem(404, "Not found", "there is no such upload").withNoStore

  /// Responds to GET and HEAD of the list.
  func list() -> Response {
    guard let uploads else { return Self.noUploads }
    if let refusal = readRefusal { return refusal }
    let all = uploads.all.filter(principal.sees).map { String(decoding: $0.json, as: UTF8.self) }
    return Response.json(Array("{\"uploads\":[\(all.joined(separator: ","))]}".utf8)).withNoStore
  }

  /// Responds to GET and HEAD of one upload.
  func one(_ id: String?) -> Response {
    guard let uploads else { return Self.noUploads }
    let isHead = method == "HEAD"
    if let refusal = versionRefusal(isRequired: false) ?? readRefusal { return refusal }
    guard let id, let upload = visible(id, uploads) else { return Self.unknown }
    let state = upload.state
    if isHead, let refusal = versionRefusal(isRequired: true) { return refusal }
    if isHead, state.stage == .failed {
      return .tus(410, [])
    }
    var response = Response.json(upload.json).withNoStore
    response.headers += [
      ("Upload-Length", "\(upload.length)"),
      ("Upload-Offset", "\(state.stage == .receiving ? state.offset : upload.length)"),
    ]
    if let metadata = upload.metadata { response.headers.append(("Upload-Metadata", metadata)) }
    if state.stage == .receiving {
      response.headers.append(("Upload-Expires", HTTPDate.text(uploads.expiry(of: upload))))
    }
    return response
  }

  /// Serves `/api/events`: every change of an upload as a server-sent event.
  func stream() -> Response {
    guard let uploads else { return Self.noUploads }
    if let refusal = readRefusal { return refusal }
    let headers: [Response.Field] = [
      ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
      // A proxy that buffers responses would delay the events.
      ("X-Accel-Buffering", "no"),
    ]
    if request.method == "HEAD" { return Response(200, headers, .omitted) }
    let (seesOpen, seesOf) = (principal.mayWrite, sessions.admission(request))
    let isWelcome = principal.isByCookie ? sessions.liveness(request) : nil
    let stream = events.open(with: uploads.all, isWelcome: isWelcome) { upload in
      upload.vault.map { seesOf($0.owner) } ?? seesOpen
    }
    guard let stream else {
      return .problem(503, "Busy", "too many listen already").withNoStore
    }
    return Response(200, headers, .stream(stream))
  }

  /// The refusal of a read by a principal that may not upload, because file names are personal data; nil for others.
  var readRefusal: Response? {
    guard !principal.mayWrite, !principal.mayWriteToSpace else { return nil }
    return principal.refusal(toChange: .library, request)?.withNoStore
  }

  /// Returns an upload; nil if it does not exist or the principal may not see it.
  private func visible(_ id: String, _ uploads: Uploads) -> Upload? {
    uploads.upload(id).flatMap { principal.sees($0) ? $0 : nil }
  }

  /// - Parameter methods: the methods of the path.
  func options(_ methods: [String]) -> Response? {
    guard let uploads else { return nil }
    switch path.route {
    case .api(.uploads), .api(.upload): break
    case .tiles, .presentation, .api, .view, .embed, .oEmbed, .openAPI, .health, .metrics, .page: return nil
    }
    return Response(
      204,
      [
        ("Tus-Version", "1.0.0"), ("Tus-Max-Size", "\(uploads.limits.bytes)"),
        ("Tus-Extension", "creation,creation-with-upload,expiration,termination"),
        ("Allow", methods.joined(separator: ", ")), ("Cache-Control", "no-store"),
      ], .bytes([]))
  }

  /// The effective method. Clients that support only GET and POST state it in a header, as tus defines. A read stays a
  /// read, because pages of other sites can make browsers send it.
  private var method: String {
    let other = request.header("X-HTTP-Method-Override")
    return request.isRead && other != "HEAD" ? request.method : other ?? request.method
  }

  // MARK: Changes

  private var methodNotAllowed: Response {
    .methodNotAllowed(
      besides: AllowedMethods.writing(path.route, takesUploads: uploads != nil), isProblem: true)
  }

  private func note(_ event: AuditEvent) { audit.note(event, request, principal) }

  /// - Parameter id: the id of an upload; nil for the list of uploads.
  func plan(_ id: String?) -> RequestBodyPolicy {
    guard let uploads else { return .refuse(methodNotAllowed) }
    if let refusal = versionRefusal(isRequired: false) { return .refuse(refusal) }
    let place = principal.mayWrite ? Principal.Place.library : .space
    if let refusal = principal.refusal(toChange: place, request) { return .refuse(refusal.withNoStore) }
    let method = method
    if method == "HEAD", id != nil {
      return .collect(limit: 0, on: .uploads) { _ in
        var response = identifiedAgain().one(id)
        response.body = .bytes([])
        return .response(response)
      }
    }
    guard (id == nil ? ["POST"] : ["PATCH", "DELETE"]).contains(method) else {
      return .refuse(methodNotAllowed)
    }
    if let refusal = versionRefusal(isRequired: true) { return .refuse(refusal) }
    do throws(UploadError) {
      try refuseOtherExtensions()
      guard let id else { return try begin(uploads) }
      switch method {
      case "PATCH": return try go(on: id, uploads)
      default:
        guard let upload = visible(id, uploads) else { return .refuse(Self.unknown) }
        return .collect(limit: 0, on: .uploads) { _ in
          let handler = identifiedAgain()
          guard handler.principal.sees(upload) else { return .response(Self.unknown) }
          if !upload.hasEnded { handler.note(.cancel(upload)) }
          uploads.cancel(upload)
          return .response(.tus(204, []))
        }
      }
    } catch {
      return .refuse(.tus(error))
    }
  }

  private func begin(_ uploads: Uploads) throws(UploadError) -> RequestBodyPolicy {
    guard let length = number("Upload-Length") else {
      throw UploadError(.malformed, "Upload-Length is missing or not a number")
    }
    guard let metadata = UploadMetadata(request.header("Upload-Metadata") ?? ""),
      let filename = metadata.text("filename"), let name = metadata.text("name"),
      let wantedFolder = metadata.text("folder")
    else { throw UploadError(.malformed, "Upload-Metadata is malformed") }
    let brings =
      request.header("Content-Length").map { $0 != "0" } ?? (request.header("Transfer-Encoding") != nil)
    if brings { try checkType() }
    let (folder, vault) = try destination(wantedFolder)
    let upload = try uploads.reserve(
      name: filename.isEmpty ? name : filename, folder: folder, length: length, vault: vault,
      metadata: metadata.header)
    return .stream(
      UploadReceiver(
        try UploadWriter(upload, of: uploads, offset: 0), of: uploads, base: base,
        isAllowed: { identifiedAgain(isUse: true).principal.sees(upload) },
        created: { note(.upload(upload)) }))
  }

  /// Returns the folder and the vault of an upload. A folder after `~/` is in the private space that the session has
  /// open.
  private func destination(
    _ folder: String
  ) throws(UploadError) -> (folder: String, vault: (any EncryptedUploadSink)?) {
    let (repository, own) = ImageReference.parts(of: folder)
    guard repository == .space else {
      guard principal.mayWrite else {
        throw UploadError(.forbidden, "this session may add only to its private space: ~/")
      }
      return (folder, nil)
    }
    guard principal.mayWriteToSpace, let space = principal.space else {
      throw UploadError(.forbidden, "no private space is open here")
    }
    return (own, space.space.makeVault())
  }

  private func go(on id: String, _ uploads: Uploads) throws(UploadError) -> RequestBodyPolicy {
    guard let upload = visible(id, uploads) else { return .refuse(Self.unknown) }
    try checkType()
    guard let offset = number("Upload-Offset") else {
      throw UploadError(.malformed, "Upload-Offset is missing or not a number")
    }
    let length = number("Content-Length")
    if let length {
      guard length <= upload.length - min(offset, upload.length) else {
        throw UploadError(.tooLarge, "the body has more bytes than Upload-Length leaves")
      }
      guard uploads.hadRoom(length) else { throw .diskFull }
    }
    return .stream(
      UploadReceiver(
        try UploadWriter(upload, of: uploads, offset: offset), of: uploads, base: base, needed: length,
        isAllowed: { identifiedAgain(isUse: true).principal.sees(upload) }))
  }

  private func checkType() throws(UploadError) {
    guard request.header("Content-Type") == "application/offset+octet-stream" else {
      throw UploadError(.notAccepted, "Content-Type must be application/offset+octet-stream")
    }
  }

  /// Refuses requests that depend on an extension which this server does not implement, and would be misinterpreted.
  private func refuseOtherExtensions() throws(UploadError) {
    for (header, name) in [
      ("Upload-Concat", "concatenation"), ("Upload-Defer-Length", "creation-defer-length"),
      ("Upload-Checksum", "checksum"),
    ] where request.header(header) != nil {
      throw UploadError(
        .malformed, "\(header) needs the extension '\(name)', which this server does not offer")
    }
  }

  /// - Parameter isRequired: whether a request without a version is refused, too.
  private func versionRefusal(isRequired: Bool) -> Response? {
    guard let version = request.header("Tus-Resumable") ?? (isRequired ? "" : nil), version != "1.0.0" else {
      return nil
    }
    var response = Response.tus(
      UploadError(.otherProtocol, "this server speaks tus 1.0.0 (header Tus-Resumable)"))
    response.headers.append(("Tus-Version", "1.0.0"))
    return response
  }

  private func number(_ header: String) -> Int? {
    guard let text = request.header(header), !text.isEmpty, text.utf8.count <= 18,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(text)
  }
}
