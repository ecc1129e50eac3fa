import Glibc
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratUploading

/// Serves `POST /api/images/{id}/move`: moves images between the library and the session's private space, and from
/// there to another space.
struct MoveHandler: ChangeHandler {
  var context: RequestContext
  let images: ImageAccess
  let changes: ChangeAccess
  let upkeep: SessionUpkeep
  let passwords: PasswordAccess
  let uploads: Uploads?

  /// The destination of a picture.
  enum MoveTarget: Hashable {
    case space
    case library
    /// The space that the password opens.
    case otherSpace(password: String)

    /// The invalid members of the body.
    struct ValidationError: Error {
      let errors: [InvalidInput]
    }

    private static let form =
      "it takes {\"to\": \"space\"}, {\"to\": \"library\"} or {\"to\": \"other-space\", \"password\": …}"

    /// Parses `{"to": "space"}`, `{"to": "library"}`, or `{"to": "other-space", "password": "…"}`, of 1 to 1024 bytes.
    init(json: [UInt8]) throws(ValidationError) {
      guard let body = try? InputLimit.request.json.decode([String: OptionalText].self, from: json) else {
        throw ValidationError(errors: [InvalidInput(body: [], Self.form)])
      }
      var errors = body.keys.filter { $0 != "to" && $0 != "password" }.sorted().map {
        InvalidInput(body: [$0], "unknown member '\($0.prefix(40))'; \(Self.form)")
      }
      func refuse(_ member: String, _ error: String) {
        errors.append(InvalidInput(body: [member], "\(error); \(Self.form)"))
      }
      let (to, password) = (body["to"]?.text, body["password"]?.text)
      let isOther = to == "other-space"
      if !isOther, to != "space", to != "library" {
        refuse("to", body["to"] == nil ? "to is missing" : "to has an invalid value")
      }
      if isOther, !(1...1024).contains(password?.utf8.count ?? 0) {
        refuse(
          "password", body["password"] == nil ? "password is missing" : "password is not 1 to 1024 bytes")
      } else if !isOther, body["password"] != nil {
        refuse("password", "password is only used with other-space")
      }
      guard errors.isEmpty else { throw ValidationError(errors: Array(errors.prefix(InvalidInput.maximum))) }
      self = isOther ? .otherSpace(password: password ?? "") : to == "space" ? .space : .library
    }
  }

  /// A value in a body: text, or nil for any other type.
  private struct OptionalText: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }

  func plan(_ image: Range<Int>) -> RequestBodyPolicy {
    let text = path.text(image)
    return plan(of: text) { $0.move(text, $1) }
  }

  private func move(_ text: String, _ request: Request) -> Reply {
    let target: MoveTarget
    do throws(MoveTarget.ValidationError) { target = try MoveTarget(json: request.body) } catch {
      return .problem("Bad target", error.errors)
    }
    let isPrivate = ImageReference.parts(of: text).repository == .space
    let id = ImageReference(text)?.id
    guard principal.mayWriteToSpace, let space = principal.space else {
      return isPrivate
        ? .response(.unknownImage)
        : .problem(403, "Forbidden", "no private space is open in this session")
    }
    switch (target, isPrivate) {
    case (.space, true), (.library, false): return .problem(409, "Conflict", "the image is there already")
    case (.otherSpace, false):
      return .problem(409, "Conflict", "from the library an image moves into the space that is open")
    case (.otherSpace(let password), true):
      return moveOn(id, from: space, password, request)
    case (.space, false), (.library, true):
      guard principal.mayWrite else {
        return .problem(403, "Forbidden", "this change requires the token, because everybody sees the image")
      }
      do throws(StorageError) {
        guard let id else { return .response(.unknownImage) }
        return .response(isPrivate ? try open(id, of: space) : try close(id, into: space))
      } catch { return .response(moveFailure(error)) }
    }
  }

  /// Moves an image into the space.
  private func close(_ id: ImageID, into space: SpaceLibrary) throws(StorageError) -> Response {
    let library = library
    let path = id.archive(in: library.root)
    guard let entry = try library.entry(id) else { return .unknownImage }
    guard entry.path == path else {
      return .problem(409, "Conflict", "the image is not an archive of this library")
    }
    // Before the move, so that a failure cannot prevent it. Afterwards again, because session upkeep may have run
    // before the removal.
    upkeep.scrubLater()
    defer {
      upkeep.scrubLater()
      upkeep.vacuum()
    }
    let isBuilt = (try? library.archive(id)?.buildRecord).map { $0.isUploaded != true } ?? false
    try space.space.take(id, from: library.root)
    uploads?.forget(image: id)
    space.refresh()
    note(.move(to: "space"))
    // The image has moved; if this update of the catalog fails, a later one includes it.
    try? library.renew([(id, path)])
    return Self.moved(ImageReference(id, in: .space), warning: isBuilt ? Self.publishedAgain : nil)
  }

  private static let publishedAgain =
    "the next build of the image's source publishes it again: keep that source out of builds, or build it with --space"

  /// Moves an image out of the space.
  private func open(_ id: ImageID, of space: SpaceLibrary) throws(StorageError) -> Response {
    try space.space.give(id, to: library.root)
    space.refresh()
    note(.move(to: "library"))
    // If this update of the catalog fails, a later one includes it.
    try? library.renew([(id, id.archive(in: library.root))])
    return Self.moved(ImageReference(id, in: .library))
  }

  /// Moves an image to the space that the password opens. Like all passwords, it is tried one at a time and rate
  /// limited.
  private func moveOn(
    _ id: ImageID?, from space: SpaceLibrary, _ password: String, _ request: Request
  ) -> Reply {
    let address = request.client
    if let refusal = changes.audit.attempts.refusal(of: address) { return .response(refusal) }
    return passwords.queue.reply(
      for: address, { .response(handOver(id, from: space, password, address)) },
      ifRefused: { changes.audit.attempts.withdraw(address) })
  }

  /// Moves an image to the space of the password. The key derivation takes half a second.
  private func handOver(
    _ id: ImageID?, from space: SpaceLibrary, _ password: String, _ address: ClientAddress
  ) -> Response {
    let found: (any OpenSpace)?
    do throws(StorageError) { found = try passwords.spaces?.open(password) } catch {
      changes.audit.attempts.withdraw(address)
      return library.lookForOutage() ? Response.catalogError(.libraryIsAway) : moveFailure(error)
    }
    guard let opened = found else {
      if library.lookForOutage() {
        changes.audit.attempts.withdraw(address)
        return Response.catalogError(.libraryIsAway)
      }
      note(.login(.password, isRight: false))
      return .refused("no space opens with this password")
    }
    changes.audit.attempts.succeeded(address)
    guard let id else { return .unknownImage }
    do throws(StorageError) {
      let known = upkeep.table.space(of: opened.identity)
      // If a session has the space open, its keys are already in memory.
      defer { opened.wipeKeys() }
      try space.space.hand(id, to: known?.space ?? opened)
      space.refresh()
      known?.refresh()
      note(.move(to: "other-space"))
      return Self.moved(nil)
    } catch { return moveFailure(error) }
  }

  /// - Parameter image: the new reference, if the principal can see the image there.
  private static func moved(_ image: ImageReference?, warning: String? = nil) -> Response {
    struct Answer: Encodable {
      let image: ImageReference?
      let warning: String?
    }
    return .json(Answer(image: image, warning: warning))
  }

  private func moveFailure(_ error: StorageError) -> Response {
    switch error.code {
    case EFBIG, EOPNOTSUPP: .problem(409, "Conflict", error.reason)
    case EINVAL: .problem(409, "Conflict", "both are the same space")
    case ENOENT: .unknownImage
    default: failure(error)
    }
  }
}
