import Glibc
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata

/// `PATCH` and `DELETE` of images.
struct EditHandler: ChangeHandler, DescribingHandler {
  var context: RequestContext
  let images: ImageAccess
  let originals: OriginalAccess
  let changes: ChangeAccess
  let editor: LibraryEditor
  /// The trash of the library and of the unlocked space.
  let trash: TrashAccess

  /// PATCH or DELETE of one image.
  /// - Parameter image: the place of the id in the path.
  func plan(_ image: Range<Int>) -> RequestBodyPolicy {
    let text = path.text(image)
    let reference = ImageReference(text)
    if request.method == "PATCH" { return plan(of: text) { .response($0.edit(reference, $1)) } }
    return plan(of: text) { handler, request in
      .response(
        handler.delete(
          [text], isOne: true,
          if: { () throws(MetadataUnavailable) in try handler.isCurrent(reference, request) }))
    }
  }

  /// POST of a list of ids to delete.
  func deletionsPlan() -> RequestBodyPolicy { plan { .response($0.deleteMany($1.body)) } }

  /// Whether an image is still the version that the client read, if it states one (`If-Match`, RFC 9110, section
  /// 13.1.1).
  private func isCurrent(
    _ reference: ImageReference?, _ request: Request
  ) throws(MetadataUnavailable) -> Bool {
    guard let wanted = request.header("If-Match") else { return true }
    let now = description(of: reference)
    guard let tag = now["ETag"] else {
      // The image is there without its metadata, or it is unknown whether it is there.
      if [200, 503].contains(now.status) { throw MetadataUnavailable() }
      return false
    }
    return EntityTag(text: tag).isMatched(byIfMatch: wanted)
  }

  private static let changedMeanwhile = Response.problem(
    412, "Changed meanwhile", "the image has changed since it was read; read it again")

  private func edit(_ reference: ImageReference?, _ request: Request) -> Response {
    let isCurrent = { () throws(MetadataUnavailable) -> Bool in try self.isCurrent(reference, request) }
    do {
      let edit = try MetadataEdit(json: request.body)
      guard let reference else { return .unknownImage }
      var outcome = LibraryEditor.Outcome.notFound
      switch reference.repository {
      case .library: outcome = try editor.edit(reference.id, edit, if: isCurrent)
      case .space:
        if let space = writableSpace {
          outcome = try editor.edit(reference.id, of: space, edit, if: isCurrent)
        }
      }
      switch outcome {
      case .done:
        note(.edit(image: reference))
        var response = description(of: reference)
        // The change is done, even if the image cannot be described now.
        guard response.status == 200 else { return Response(204, [], .bytes([])) }
        response["ETag"] = nil
        return response
      case .notFound: return .unknownImage
      case .changedMeanwhile:
        return Self.changedMeanwhile
      case .unavailable:
        return .problem(503, "Busy", "the image's metadata cannot be read now; try again")
      case .unreadableSidecar:
        return .problem(409, "Conflict", "the image's XMP sidecar cannot be read, and is not overwritten")
      }
    } catch let refusal as MetadataEdit.ValidationError {
      return .problem(
        "Bad edit",
        refusal.problems.prefix(InvalidInput.maximum).map { InvalidInput(body: $0.members, $0.reason) }
      )
    } catch {
      return failure(error)
    }
  }

  private func deleteMany(_ body: [UInt8]) -> Response {
    do throws(DeletionList.ValidationError) {
      return delete(try DeletionList(json: body).ids, isOne: false)
    } catch { return .problem("Bad list", error.errors) }
  }

  /// - Parameters:
  ///   - texts: possible ids; the response contains them as sent.
  ///   - isCurrent: whether they are still the versions that the client read.
  private func delete(
    _ texts: [String], isOne: Bool, if isCurrent: () throws(MetadataUnavailable) -> Bool = { true }
  ) -> Response {
    let repositories = Set(texts.map { ImageReference.parts(of: $0).repository })
    guard repositories.count <= 1 else {
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
      let space = repositories.contains(.space) ? writableSpace : nil
      if repositories.contains(.space), space == nil {
        return isOne ? .unknownImage : .json(Answer(deleted: nil, refused: texts))
      }
      guard space != nil || principal.mayWrite else {
        return .problem(403, "Forbidden", "this session may change only its private space")
      }
      let ids = texts.compactMap { ImageReference($0)?.id }
      let taken = try editor.delete(ids, from: trash.of(space), if: isCurrent)
      guard let (deletion, refused) = taken else { return Self.changedMeanwhile }
      if let deletion { note(.delete(images: deletion.images, deletion: deletion.id)) }
      guard isOne, deletion == nil else {
        let refused = Set(refused)
        return .json(
          Answer(
            deleted: deletion,
            refused: texts.filter { ImageReference($0).map { refused.contains($0.id) } ?? true }))
      }
      return space == nil && ids.first.map(library.hasLooseTiles) ?? false
        ? .problem(409, "Conflict", "the tiles of this image are loose files, which are not deleted here")
        : .unknownImage
    } catch { return failure(error) }
  }
}
