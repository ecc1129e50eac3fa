import Catalog
import Files
import Foundation
import HTTPMessages
import ImageLibrary
import TileGeometry
import TileStorage
import Uploading

/// `POST /api/images/{id}/copies`: a part of an image becomes an image of its own, beside it.
extension Router {
  /// What is asked for: `{"region": {"x", "y", "width", "height"}, "turn": 90, "flip": true, "straighten": 1.5}`, of which
  /// all but the region may be left out.
  struct CopyWish: Decodable {
    let region: Region
    let turn: Int
    let isFlipped: Bool
    let straightening: Double

    struct Region: Decodable {
      let x, y, width, height: Int

      private enum Name: String, CodingKey { case x, y, width, height }

      init(from decoder: any Decoder) throws {
        try refuseOthers(in: decoder) { Name(rawValue: $0) != nil }
        let values = try decoder.container(keyedBy: Name.self)
        (x, y) = (try values.decode(Int.self, forKey: .x), try values.decode(Int.self, forKey: .y))
        width = try values.decode(Int.self, forKey: .width)
        height = try values.decode(Int.self, forKey: .height)
      }
    }

    private enum Name: String, CodingKey { case region, turn, flip, straighten }

    init(from decoder: any Decoder) throws {
      try refuseOthers(in: decoder) { Name(rawValue: $0) != nil }
      let values = try decoder.container(keyedBy: Name.self)
      region = try values.decode(Region.self, forKey: .region)
      turn = try values.decodeIfPresent(Int.self, forKey: .turn) ?? 0
      isFlipped = try values.decodeIfPresent(Bool.self, forKey: .flip) ?? false
      straightening = try values.decodeIfPresent(Double.self, forKey: .straighten) ?? 0
    }
  }

  func copyPlan(_ image: Range<Int>) -> BodyPlan {
    let text = path.text(image)
    return plan(of: text) { .now(self.copy(text, $0.body)) }
  }

  private func copy(_ text: String, _ body: [UInt8]) -> Response {
    guard let uploads = site.uploads else {
      return .problem(404, "Not found", "this server makes no images: it has no --upload-folder")
    }
    guard let wish = try? JSONDecoder().decode(CopyWish.self, from: Data(body)) else {
      return .problem(
        400, "Bad copy",
        "it takes {\"region\": {\"x\", \"y\", \"width\", \"height\"}} in whole pixels of the image, and maybe "
          + "\"turn\", \"flip\" and \"straighten\"")
    }
    guard let id = ImageID(text) else { return Self.unknownImage }
    if id.isPrivate {
      guard visitor.space != nil else { return Self.unknownImage }
      return .problem(409, "Conflict", "of a private picture no copy is made; move it into the library first")
    }
    // Of servers that share a catalog this one may not have been asked for it yet.
    site.library.arrival(of: [id])?.wait()
    let found = knownNow(id, problem: true) { entry, archive in
      let image = archive.pyramid.imageSize
      let part = PictureCopy(
        of: id, x: wish.region.x, y: wish.region.y, width: wish.region.width, height: wish.region.height,
        turn: wish.turn, isFlipped: wish.isFlipped, straightening: wish.straightening)
      if let reason = Self.refusal(part, of: image) { return .problem(400, "Bad copy", reason) }
      // A copy of a page is no page: it stands beside the book.
      let folder = entry.book.map { $0.folder?.text ?? "" } ?? id.folder?.text ?? ""
      let name = entry.book.map { "\($0.name)-\(id.name)" } ?? id.name
      do throws(UploadError) {
        let upload = try uploads.begin(part, name: "\(name)-crop.png", folder: folder)
        note(.upload(upload))
        return Response(
          202,
          [
            ("Content-Type", "application/json"), ("Location", "\(site.base)/api/uploads/\(upload.id)"),
            ("Cache-Control", "no-store"),
          ], .bytes(upload.json))
      } catch {
        var response = Response.problem(error.status, "Copy refused", error.reason)
        if error.status == 429 { response.headers.append(("Retry-After", "5")) }
        return response
      }
    }
    return found.madePrivate
  }

  private static func refusal(_ part: PictureCopy, of image: PixelSize) -> String? {
    guard [0, 90, 180, 270].contains(part.turn) else {
      return "turn is \(part.turn); it takes 0, 90, 180 or 270"
    }
    guard abs(part.straightening) <= 45 else {
      return "straighten is \(part.straightening); it takes degrees from -45 to 45"
    }
    guard part.isInside(image) else {
      return "the region is not inside the image, which has \(image.width)×\(image.height) pixels"
        + (part.straightening == 0 ? "" : ", turned by \(part.straightening)°")
    }
    guard part.width <= PictureCopy.mostPixels / part.height else {
      return
        "the region has \(part.width)×\(part.height) pixels; a copy has at most \(PictureCopy.mostPixels)"
    }
    return nil
  }
}

/// Throws where an object has members of other names.
private func refuseOthers(in decoder: any Decoder, known: (String) -> Bool) throws {
  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
  let names = try decoder.container(keyedBy: Name.self).allKeys
  if let other = names.first(where: { !known($0.stringValue) }) {
    throw DecodingError.dataCorrupted(.init(codingPath: [other], debugDescription: "an unknown member"))
  }
}
