import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratUploading

/// `POST /api/images/{id}/copies`: a part of an image becomes an image of its own, beside it.
struct CopyHandler: ChangeHandler {
  var context: RequestContext
  let images: ImageAccess
  let changes: ChangeAccess
  /// The uploads; nil if the server makes no images.
  let uploads: Uploads?

  /// The body of the request: `{"region": {"x", "y", "width", "height"}, "rotation": 90, "flip": true, "straighten":
  /// 1.5}`. All members but the region are optional.
  private struct CopyWish {
    private(set) var region = PixelRect(x: 0, y: 0, width: 0, height: 0)
    private(set) var rotation = 0
    private(set) var isFlipped = false
    private(set) var straightening = 0.0

    static let form =
      "it takes {\"region\": {\"x\", \"y\", \"width\", \"height\"}} in whole pixels of the image, and maybe "
      + "\"rotation\", \"flip\" and \"straighten\""

    /// The values that cannot be used.
    struct ValidationError: Error {
      let errors: [InvalidInput]
    }

    /// A value as it came; no deeper than one object in another.
    private enum Value: Decodable {
      case flag(Bool)
      case whole(Int)
      case number(Double)
      case region([String: Int?])
      case other

      init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
          self = .flag(flag)
        } else if let whole = try? value.decode(Int.self) {
          self = .whole(whole)
        } else if let number = try? value.decode(Double.self) {
          self = .number(number)
        } else if let object = try? decoder.container(keyedBy: AnyName.self) {
          var members: [String: Int?] = [:]
          for name in object.allKeys {
            members[name.stringValue] = .some(try? object.decode(Int.self, forKey: name))
          }
          self = .region(members)
        } else {
          self = .other
        }
      }
    }

    private struct AnyName: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(json: [UInt8]) throws(ValidationError) {
      let body: [String: Value]
      do { body = try InputLimit.request.json.decode([String: Value].self, from: json) } catch {
        throw ValidationError(errors: [InvalidInput(body: [], Self.form)])
      }
      var errors: [InvalidInput] = []
      func refuse(_ members: [String], _ detail: String) {
        errors.append(InvalidInput(body: members, detail))
      }
      if body["region"] == nil { refuse(["region"], "region is missing; \(Self.form)") }
      for (name, value) in body.sorted(by: { $0.key < $1.key }) {
        let present = DeprecatedNames.copyMembers[name] ?? name
        if present != name, body[present] != nil {
          refuse([name], "\(name) is the former name of \(present); give one of them")
          continue
        }
        switch (present, value) {
        case ("region", .region(let members)):
          let names = ["x", "y", "width", "height"]
          for other in members.keys.sorted() where !names.contains(other) {
            refuse([name, other], "'\(other.prefix(40))' is not a member of region; \(Self.form)")
          }
          let numbers = names.map { side -> Int in
            if let number = members[side] ?? nil { return number }
            refuse([name, side], "\(side) of region is not a whole number; \(Self.form)")
            return 0
          }
          region = PixelRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        case ("rotation", .whole(let degrees)):
          rotation = degrees
          if ![0, 90, 180, 270].contains(degrees) {
            refuse([name], "\(name) is \(degrees); it takes 0, 90, 180 or 270")
          }
        case ("flip", .flag(let flag)): isFlipped = flag
        case ("straighten", .whole(let degrees)): straightening = Double(degrees)
        case ("straighten", .number(let degrees)): straightening = degrees
        case ("region", _), ("rotation", _), ("flip", _), ("straighten", _):
          refuse([name], "\(name) has an invalid value; \(Self.form)")
        default: refuse([name], "unknown member '\(name.prefix(40))'; \(Self.form)")
        }
      }
      if abs(straightening) > 45 {
        refuse(["straighten"], "straighten is \(straightening); it takes degrees from -45 to 45")
      }
      if !errors.isEmpty { throw ValidationError(errors: errors) }
    }
  }

  func plan(_ image: Range<Int>) -> RequestBodyPolicy {
    let text = path.text(image)
    return plan(of: text) { .response($0.copy(text, $1.body)) }
  }

  private func copy(_ text: String, _ body: [UInt8]) -> Response {
    guard let uploads else {
      return .problem(404, "Not found", "this server makes no images: it has no --upload-dir")
    }
    let wish: CopyWish
    do throws(CopyWish.ValidationError) { wish = try CopyWish(json: body) } catch {
      return .problem("Bad copy", error.errors)
    }
    guard let reference = ImageReference(text) else { return .unknownImage }
    let id = reference.id
    if reference.isPrivate {
      guard principal.space != nil else { return .unknownImage }
      return .problem(
        409, "Conflict", "private images cannot be copied; move the image into the library first")
    }
    // Of servers that share a catalog this one may not have been asked for it yet.
    library.lookup(of: [id])?.wait()
    let response = knownNow(reference, problem: true) { found, archive in
      let image = archive.pyramid.imageSize
      let part = CropRequest(
        of: id, x: wish.region.x, y: wish.region.y, width: wish.region.width, height: wish.region.height,
        turn: wish.rotation, isFlipped: wish.isFlipped, straightening: wish.straightening)
      if let reason = Self.refusal(part, of: image) {
        return .problem("Bad copy", [InvalidInput(body: ["region"], reason)])
      }
      // A copy of a page is no page: it stands beside the book.
      let folder = found.entry.book.map { $0.folder?.text ?? "" } ?? id.folder?.text ?? ""
      let name = found.entry.book.map { "\($0.name)-\(id.name)" } ?? id.name
      do throws(UploadError) {
        let upload = try uploads.begin(part, name: "\(name)-crop.png", folder: folder)
        note(.upload(upload))
        return Response(
          202,
          [
            ("Content-Type", "application/json"), ("Location", "\(base)/api/uploads/\(upload.id)"),
            ("Cache-Control", "no-store"),
          ], .bytes(upload.json))
      } catch {
        var response = Response.problem(error.kind.status, "Copy refused", error.reason)
        if error.kind == .tooMany { response.headers.append(("Retry-After", "5")) }
        return response
      }
    }
    return response.withNoStore
  }

  private static func refusal(_ part: CropRequest, of image: PixelSize) -> String? {
    guard part.isInside(image) else {
      return "the region is not inside the image, which has \(image.width)×\(image.height) pixels"
        + (part.straightening == 0 ? "" : ", rotated by \(part.straightening)°")
    }
    guard part.width <= CropRequest.maxPixels / part.height else {
      return
        "the region has \(part.width)×\(part.height) pixels; a copy has at most \(CropRequest.maxPixels)"
    }
    return nil
  }
}
