import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// The deleted images of the library and of private spaces.
struct TrashAccess: Sendable {
  let library: Trash
  /// Seconds for which deleted images can be restored.
  let keeps: Int

  /// - Parameter space: the space; nil for the library.
  func of(_ space: SpaceLibrary?) -> Trash { space.map { Trash($0, keeps: keeps) } ?? library }
}

/// Serves `/api/trash`: deleted images that can be restored.
struct TrashHandler: ChangeHandler {
  var context: RequestContext
  let images: ImageAccess
  let changes: ChangeAccess
  let trash: TrashAccess

  /// Lists the deletions that the principal may restore.
  func list() -> Response {
    if !principal.mayWrite, !principal.mayWriteToSpace,
      let refusal = principal.refusal(toChange: .library, request)
    {
      return refusal.withNoStore
    }
    // The trash of an unreachable library would appear empty.
    if library.lookForOutage() { return Response.catalogError(.libraryIsAway).withNoStore }
    do throws(StorageError) {
      let own = try writableSpace.map(trash.of)?.deletions()
      let open = principal.mayWrite ? try trash.of(nil).deletions() : []
      return Response.json(["items": ((own ?? []) + open).sorted { $0.deletedAt > $1.deletedAt }]).withNoStore
    } catch {
      let response: Response =
        error.isTemporary
        ? .catalogError(error)
        : .problem(500, "Unreadable", "the list of deleted images cannot be read").withReason(error)
      return response.withNoStore
    }
  }

  /// Handles the POST of a restoration.
  ///
  /// - Parameter deletion: the name of the deletion.
  func restorePlan(_ deletion: String) -> RequestBodyPolicy {
    plan { handler, _ in .response(handler.restore(deletion)) }
  }

  private func restore(_ name: String) -> Response {
    struct Answer: Encodable {
      let restored: [ImageReference]
      /// Images whose id another image now has.
      let conflicts: [ImageReference]
    }
    do throws(StorageError) {
      let isOwn = Trash.isOfSpace(name)
      guard isOwn || principal.mayWrite else {
        return .problem(403, "Forbidden", "this session may change only its private space")
      }
      guard let trash = isOwn ? writableSpace.map(trash.of) : trash.of(nil),
        let result = try trash.restore(name)
      else { return .problem(404, "Not found", "the deletion is unknown or has expired") }
      let answer = Answer(
        restored: result.restored.map { ImageReference($0, in: trash.repository) },
        conflicts: result.conflicts.map { ImageReference($0, in: trash.repository) })
      if !answer.restored.isEmpty { note(.restore(images: answer.restored, deletion: name)) }
      return .json(answer)
    } catch { return failure(error) }
  }
}
