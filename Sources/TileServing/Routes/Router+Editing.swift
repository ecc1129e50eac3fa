import Glibc
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// `PATCH` and `DELETE` of images, and what undoes that.
extension Router {
  func deletionsPlan() -> BodyPlan {
    guard request.method == "POST" else { return .refuse(methodNotAllowed) }
    return plan { request in .response(self.deleteMany(request.body)) }
  }

  func restorePlan(_ deletion: String) -> BodyPlan {
    guard request.method == "POST" else { return .refuse(methodNotAllowed) }
    return plan { _ in .response(self.restore(deletion)) }
  }

  func plan(for image: ImageRequest) -> BodyPlan {
    let whole = path.text(image.whole)
    let id = ImageID(whole)
    if let question = image.question, !isImage(id) {
      switch question {
      case .viewport, .viewportTiles, .viewportPicture, .animation, .original:
        return .refuse(methodNotAllowed)
      case .move: return posted { movePlan(image.id) }
      case .copies: return posted { copyPlan(image.id) }
      }
    }
    switch request.method {
    case "PATCH": return plan(of: whole) { .response(self.edit(id, $0)) }
    case "DELETE":
      return plan(of: whole) { request in
        .response(
          self.delete(
            [whole], isOne: true, if: { () throws(WordsUnavailable) in try self.isCurrent(id, request) }))
      }
    default: return .refuse(methodNotAllowed)
    }
  }

  private func posted(_ plan: () -> BodyPlan) -> BodyPlan {
    request.method == "POST" ? plan() : .refuse(methodNotAllowed)
  }

  func isImage(_ id: ImageID?) -> Bool {
    id.flatMap(place).flatMap { try? $0.library.entry($0.id) } != nil
  }

  /// `/api/trash`: lists what can be restored, for those alone who may.
  func listTrash() -> Response {
    if !visitor.mayWrite, !visitor.mayWriteToSpace, let refusal = visitor.refusal(toChange: .library, request)
    {
      return refusal.madePrivate
    }
    // The trash of a library that is away would seem empty.
    if site.library.lookForOutage() { return Self.unlisted(.libraryIsAway).madePrivate }
    do throws(StorageError) {
      let own = visitor.mayWriteToSpace ? try visitor.space.map { site.trash(of: $0) }?.deletions() : nil
      let open = visitor.mayWrite ? try site.trash.deletions() : []
      return Response.json(["items": ((own ?? []) + open).sorted { $0.deletedAt > $1.deletedAt }]).madePrivate
    } catch {
      let response =
        error.isTemporary
        ? Self.unlisted(error)
        : .problem(500, "Unreadable", "the list of deleted images cannot be read").because(error)
      return response.madePrivate
    }
  }

  /// - Parameter id: of what is to be changed, as the path has it; nil where the body tells, or the answer does.
  func plan(of id: String? = nil, _ answer: @escaping @Sendable (Request) -> Reply) -> BodyPlan {
    guard site.access.isWritable else { return .refuse(methodNotAllowed) }
    let place: Visitor.Place =
      switch id.map({ ImageID.unmarked($0) != nil }) {
      // Of a space that is not open here there is no image, as the answer tells.
      case true: visitor.mayWrite && visitor.space == nil ? .library : .space
      case false: .library
      case nil: visitor.mayWrite ? .library : .space
      }
    if let refusal = visitor.refusal(toChange: place, request) { return .refuse(refusal.madePrivate) }
    // A thousand ids of some length.
    return .collect(limit: InputLimit.request.bytes) { answer($0).map(\.madePrivate) }
  }

  /// The space that an id is of, where the visitor may change it.
  private var space: SpaceLibrary? { visitor.mayWriteToSpace ? visitor.space : nil }

  static let unknownImage = Response.problem(404, "Not found", "there is no image of this id")

  /// Whether an image is as whoever wants to change it saw it, where that is asked (`If-Match`, RFC 9110, section 13.1.1).
  private func isCurrent(_ id: ImageID?, _ request: Request) throws(WordsUnavailable) -> Bool {
    guard let wanted = request.header("If-Match") else { return true }
    let now = description(of: id)
    guard let tag = now["ETag"] else {
      // The image is there, but without its words.
      if now.status == 200 { throw WordsUnavailable() }
      return false
    }
    return EntityTag(text: tag).isMatched(byIfMatch: wanted)
  }

  private static let changedMeanwhile = Response.problem(
    412, "Changed meanwhile", "the image has changed since it was read; read it again")

  private func edit(_ id: ImageID?, _ request: Request) -> Response {
    let isCurrent = { () throws(WordsUnavailable) -> Bool in try self.isCurrent(id, request) }
    do {
      let edit = try MetadataEdit(json: request.body)
      var outcome = LibraryEditor.Outcome.notThere
      if let own = id?.unmarked {
        if let space { outcome = try space.edit(own, edit, if: isCurrent) }
      } else if let id {
        outcome = try site.editor.edit(id, edit, if: isCurrent)
      }
      switch outcome {
      case .done:
        if let id { note(.edit(image: id)) }
        var response = description(of: id)
        // It is done, whatever cannot be told of it now.
        guard response.status == 200 else { return Response(204, [], .bytes([])) }
        response["ETag"] = nil
        return response
      case .notThere: return Self.unknownImage
      case .changedMeanwhile:
        return Self.changedMeanwhile
      case .unavailable:
        return .problem(503, "Busy", "the image's XMP sidecar cannot be read now; try again")
      case .unreadableSidecar:
        return .problem(409, "Conflict", "the image's XMP sidecar cannot be read, and is not overwritten")
      }
    } catch let refusal as MetadataEdit.Refusal {
      return .problem(
        "Bad edit", refusal.faults.prefix(InvalidInput.most).map { InvalidInput(body: $0.members, $0.reason) }
      )
    } catch {
      return failure(error)
    }
  }

  private func deleteMany(_ body: [UInt8]) -> Response {
    do throws(DeletionList.Refusal) {
      return delete(try DeletionList(json: body).ids, isOne: false)
    } catch { return .problem("Bad list", error.errors) }
  }

  /// - Parameters:
  ///   - texts: what may be no ids; they are answered as they came.
  ///   - isCurrent: whether they are as whoever deletes them saw them.
  private func delete(
    _ texts: [String], isOne: Bool, if isCurrent: () throws(WordsUnavailable) -> Bool = { true }
  ) -> Response {
    let own = texts.compactMap(ImageID.unmarked)
    guard own.isEmpty || own.count == texts.count else {
      return .problem(
        "Bad list",
        [InvalidInput(body: ["ids"], "images of a private space are deleted by a request of their own")])
    }
    struct Answer: Encodable {
      let deleted: Trash.Listed?
      let refused: [String]
    }
    do throws(StorageError) {
      var seen: Set<[UInt8]> = []
      let texts = texts.filter { seen.insert(Array($0.utf8)).inserted }
      guard own.isEmpty || space != nil else {
        return isOne ? Self.unknownImage : .json(Answer(deleted: nil, refused: texts))
      }
      guard !own.isEmpty || visitor.mayWrite else {
        return .problem(403, "Forbidden", "this session may change only its private space")
      }
      let ids = texts.compactMap(ImageID.init)
      let isOpen = own.isEmpty
      let taken = try site.editor.delete(
        isOpen ? ids : ids.compactMap(\.unmarked), from: isOpen ? site.trash : site.trash(of: space!),
        if: isCurrent)
      guard let (deletion, refused) = taken else { return Self.changedMeanwhile }
      if let deletion { note(.delete(images: deletion.images, deletion: deletion.id)) }
      guard isOne, deletion == nil else {
        let refused = Set(refused)
        return .json(
          Answer(
            deleted: deletion, refused: texts.filter { ImageID($0).map(refused.contains) ?? true }))
      }
      return own.isEmpty && ids.first.map(site.library.hasLooseTiles) ?? false
        ? .problem(409, "Conflict", "the tiles of this image are loose files, which are not deleted here")
        : Self.unknownImage
    } catch { return failure(error) }
  }

  private func restore(_ name: String) -> Response {
    struct Answer: Encodable {
      let restored: [ImageID]
      /// Images whose id another image has now.
      let conflicts: [ImageID]
    }
    do throws(StorageError) {
      let isOwn = Trash.isOfSpace(name)
      guard isOwn || visitor.mayWrite else {
        return .problem(403, "Forbidden", "this session may change only its private space")
      }
      let trash = isOwn ? space.map { site.trash(of: $0) } : site.trash
      guard let result = try trash?.restore(name) else {
        return .problem(404, "Not found", "the deletion is unknown or has expired")
      }
      if !result.restored.isEmpty { note(.restore(images: result.restored, deletion: name)) }
      return .json(Answer(restored: result.restored, conflicts: result.conflicts))
    } catch { return failure(error) }
  }

  func failure(_ error: any Error) -> Response {
    // Nothing is lost, and the reason names the way out.
    if let error = error as? StorageError, error.code == EEXIST {
      return .problem(409, "Conflict", error.reason)
    }
    if let error = error as? StorageError, error == .libraryIsAway { return Self.unlisted(error) }
    guard (error as? StorageError)?.isTemporary == true else {
      let response: Response = .problem(500, "Unwritable", "the change could not be written")
      return response.because(String(describing: error))
    }
    if let error = error as? StorageError, error.isOfFullDisk {
      site.noteFullDisk()
      return .problem(507, "Insufficient storage", "the server's disk is full; nothing was changed")
    }
    var response = Response.problem(
      503, "Busy",
      site.library.catalog.isReachable
        ? "the change could not be written; try again later"
        : "the catalog cannot be reached at present; try again")
    response["Retry-After"] = "1"
    return response
  }
}
