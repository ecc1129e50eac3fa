import Foundation
import Metadata
import TileStorage

/// `PATCH` and `DELETE` of images, and what undoes that.
extension Router {
  /// Nil where the path is none of these.
  func editPlan(_ segments: [String]) -> BodyPlan? {
    let isEdit = segments.count > 2 && segments.starts(with: ["api", "images"])
    switch (request.method, segments) {
    case ("POST", ["api", "deleted"]):
      return plan { request in self.deleteMany(request.body) }
    case ("POST", _) where segments.count == 4 && segments.starts(with: ["api", "deleted"]):
      guard segments[3] == "restore" else { return nil }
      return plan { _ in self.restore(segments[2]) }
    case (_, ["api", "deleted"]) where site.access.isWritable:
      return .refuse(.methodNotAllowed(besides: ["POST"]))
    case (_, _) where isEdit && isQuestion(segments): return .refuse(.methodNotAllowed)
    case ("PATCH", _) where isEdit:
      let id = segments.dropFirst(2).joined(separator: "/")
      return plan { self.edit(id, $0) }
    case ("DELETE", _) where isEdit:
      let id = segments.dropFirst(2).joined(separator: "/")
      return plan { _ in self.delete([id], isOne: true) }
    case (_, _) where isEdit && site.access.isWritable:
      return .refuse(.methodNotAllowed(besides: ["PATCH", "DELETE"]))
    default: return nil
    }
  }

  /// Whether the path is a question about an image and no image is called so.
  private func isQuestion(_ segments: [String]) -> Bool {
    let id = segments.dropFirst(2)
    guard id.count > 1, let last = id.last else { return false }
    return (last == "animation" || last == "viewport" || last.hasPrefix("viewport."))
      && site.library.current.entry(id.joined(separator: "/")) == nil
  }

  /// `/api/deleted`: what can be restored, for those alone who may.
  func deleted() -> Response {
    if !visitor.mayWrite, let refusal = visitor.refusal(toChange: .library, request) {
      return refusal.madePrivate
    }
    return Response.json(["deleted": site.trash.deletions]).madePrivate
  }

  private func plan(_ answer: @escaping @Sendable (Request) -> Response) -> BodyPlan {
    guard site.access.isWritable else { return .refuse(.methodNotAllowed) }
    if let refusal = visitor.refusal(toChange: .library, request) { return .refuse(refusal.madePrivate) }
    // A thousand ids of some length.
    return .collect(limit: 1 << 20) { answer($0).madePrivate }
  }

  private static func isPrivate(_ id: String) -> Bool { id.hasPrefix("\(SpaceLibrary.prefix)") }

  private static let privateRefusal = Response.problem(
    409, "Conflict", "images of a private space cannot be changed here")
  private static let unknown = Response.problem(404, "Not found", "there is no image of this id")

  private func edit(_ id: String, _ request: Request) -> Response {
    if Self.isPrivate(id) { return Self.privateRefusal }
    do {
      let edit = try MetadataEdit(json: request.body)
      let outcome = try site.editor.edit(id, edit) {
        guard let wanted = request.header("If-Match") else { return true }
        guard let tag = describe(id).header("ETag") else { return false }
        return EntityTag(text: tag).isMatched(byIfMatch: wanted)
      }
      switch outcome {
      case .done:
        var response = describe(id)
        response.headers.removeAll { $0.name == "ETag" }
        return response
      case .notThere: return Self.unknown
      case .changedMeanwhile:
        return .problem(412, "Changed meanwhile", "somebody else has changed this image; read it again")
      case .unreadableSidecar:
        return .problem(409, "Conflict", "the image's XMP sidecar cannot be read, and is not overwritten")
      }
    } catch let refusal as MetadataEdit.Refusal {
      return .problem(400, "Bad edit", refusal.reason)
    } catch {
      return Self.failure(error)
    }
  }

  private func deleteMany(_ body: [UInt8]) -> Response {
    let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
    guard let object, object.count == 1, let ids = object["ids"] as? [String], (1...1000).contains(ids.count)
    else { return .problem(400, "Bad list", "it takes {\"ids\": […]}, of 1 to 1000 ids") }
    return delete(ids, isOne: false)
  }

  private func delete(_ ids: [String], isOne: Bool) -> Response {
    if ids.contains(where: Self.isPrivate) { return Self.privateRefusal }
    struct Answer: Encodable {
      let deleted: Trash.Deletion?
      let refused: [String]
    }
    do throws(StorageError) {
      var seen: Set<String> = []
      let (deletion, refused) = try site.trash.delete(ids.filter { seen.insert($0).inserted })
      guard isOne, deletion == nil else {
        return .json(Answer(deleted: deletion, refused: refused))
      }
      return site.library.current.entry(ids[0]) == nil
        ? Self.unknown
        : .problem(409, "Conflict", "the tiles of this image are loose files, which are not deleted here")
    } catch { return Self.failure(error) }
  }

  private func restore(_ name: String) -> Response {
    struct Answer: Encodable {
      let restored: [String]
      /// Another image has the place.
      let taken: [String]
    }
    do throws(StorageError) {
      guard let (restored, taken) = try site.trash.restore(name) else {
        return .problem(404, "Not found", "there is no such deletion, or its time is over")
      }
      return .json(Answer(restored: restored, taken: taken))
    } catch { return Self.failure(error) }
  }

  private static func failure(_ error: any Error) -> Response {
    (error as? StorageError)?.isTemporary == true
      ? .problem(507, "Insufficient storage", "the change could not be written; try again later")
      : .problem(500, "Unwritable", "the change could not be written")
  }
}
