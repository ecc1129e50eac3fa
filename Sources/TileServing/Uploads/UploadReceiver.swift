import ZigguratHTTPMessages
import ZigguratUploading

/// Receives the body of a request that sends a part of a file.
// Sendable: calls are sequential, as `BodyReceiver` requires.
final class UploadReceiver: BodyReceiver, @unchecked Sendable {
  private let uploads: Uploads
  private let writer: UploadWriter
  private let base: String
  /// Whether the upload's files are still to be created.
  private var isNew: Bool
  private var creates: Bool { created != nil }
  private let created: (@Sendable () -> Void)?
  private var isCreated = false
  /// The bytes that the body still needs on the disk; nil if that is unknown, or was looked at.
  private var needed: Int?
  private let isAllowed: @Sendable () -> Bool
  private var failure: UploadError?

  /// - Parameters:
  ///   - needed: the bytes of the body; nil if they are unknown.
  ///   - isAllowed: whether the principal may still upload: the session may end while the body arrives.
  ///   - created: called when the upload is created; nil if the request continues an upload.
  init(
    _ writer: UploadWriter, of uploads: Uploads, base: String, needed: Int? = nil,
    isAllowed: @escaping @Sendable () -> Bool, created: (@Sendable () -> Void)? = nil
  ) {
    self.writer = writer
    self.uploads = uploads
    self.base = base
    self.needed = needed
    self.isAllowed = isAllowed
    isNew = created != nil
    self.created = created
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> BodyStep {
    guard failure == nil else { return .stop }
    return switch writer.receive(bytes) {
    case .receiveMore: .more
    case .drain: .drain
    case .stop: .stop
    }
  }

  func drain() {
    prepare()
    if failure == nil { writer.drain() }
  }

  /// Creates the files of a new upload, and checks what the event loop cannot check, or what may have changed.
  private func prepare() {
    guard failure == nil else { return }
    guard isAllowed() else {
      failure = UploadError(.forbidden, "the session has ended")
      return
    }
    if let needed {
      self.needed = nil
      if !uploads.hasRoom(needed) { failure = .diskFull }
    }
    guard isNew else { return }
    isNew = false
    do throws(UploadError) {
      try uploads.create(writer.upload)
      isCreated = true
      created?()
    } catch { failure = error }
  }

  func answer(_ request: Request) -> Response {
    prepare()
    let upload = writer.upload
    if let failure {
      // The client learns no address of an upload that it has just created.
      if creates { abandon() }
      return .tus(failure, of: creates ? nil : upload)
    }
    do throws(UploadError) {
      let offset = try writer.finish()
      var headers = [
        ("Upload-Offset", "\(offset)"), ("Upload-Expires", HTTPDate.text(uploads.expiry(of: upload))),
      ]
      if creates { headers.append(("Location", "\(base)/api/uploads/\(upload.id)")) }
      return .tus(creates ? 201 : 204, headers)
    } catch {
      return .tus(error, of: upload)
    }
  }

  func abandon() {
    guard creates else {
      // The bytes in memory are not written if they were refused, or come from a session that has ended.
      if failure == nil, isAllowed() { _ = try? writer.finish() }
      return
    }
    // An upload that was created by a request without a response is unknown to its client.
    if isCreated { uploads.cancel(writer.upload) } else { uploads.withdraw(writer.upload) }
  }
}

extension Response {
  /// - Parameter headers: the headers in addition to those of every response to an upload.
  static func tus(_ status: Int, _ headers: [(String, String)]) -> Response {
    Response(
      status, headers.map { (name: $0.0, value: $0.1) } + [("Cache-Control", "no-store")], .bytes([]))
  }

  static func tus(_ error: UploadError, of upload: Upload? = nil) -> Response {
    var response = problem(error.kind.status, "Upload refused", error.reason).withNoStore
    if error.kind == .tooMany { response.headers.append(("Retry-After", "5")) }
    if let upload, [.conflict, .tooLarge, .diskFull].contains(error.kind) {
      response.headers.append(("Upload-Offset", "\(upload.state.offset)"))
    }
    return response
  }

  /// The response with the header that tus requires in all responses except those to OPTIONS.
  var resumable: Response {
    var response = self
    response["Tus-Resumable"] = "1.0.0"
    return response
  }
}

extension UploadError.Kind {
  /// The status of the response (RFC 9110, section 15.5, and tus 1.0.0).
  var status: Int {
    switch self {
    case .malformed: 400
    case .forbidden: 403
    case .conflict: 409
    case .ended: 410
    case .otherProtocol: 412
    case .tooLarge: 413
    case .notAccepted: 415
    case .tooMany: 429
    case .notWritable: 500
    case .diskFull: 507
    }
  }
}
