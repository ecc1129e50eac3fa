import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary

/// Serves `/api/images/{id}/original`, the file as it was uploaded, and `/api/images/{id}/animation`, the original
/// animation.
struct OriginalHandler: DescribingHandler {
  var context: RequestContext
  let images: ImageAccess
  let originals: OriginalAccess

  func original(_ reference: ImageReference?) -> Reply {
    @Sendable func reply(_ handler: Self) -> Reply {
      handler.found(reference, problem: true) { reference, archive in
        reference.isPrivate
          ? handler.privateOriginal(reference, archive) : handler.publicOriginal(reference)
      }
    }
    // The queue for originals also reads the title.
    if let reference, reference.isPrivate { return rest(on: images.originalQueue, reply) }
    if let reference, offersOriginal(reference) { return whereOriginalIsRead(reference, reply) }
    return forDownload(reference, reply)
  }

  func animation(_ reference: ImageReference?) -> Reply {
    forDownload(reference) { handler in
      handler.found(reference, problem: true) { reference, archive in
        // The file of an archive in an object store is not in memory.
        handler.rest(on: archive.isRemote ? handler.images.originalQueue : nil) { handler in
          let ending = archive.buildRecord?.animation?.format.rawValue ?? ""
          return handler.saved(.response(handler.animation(archive)), reference, ending: ending)
        }
      }
    }
  }

  private func publicOriginal(_ reference: ImageReference) -> Reply {
    guard let source = originalFile(reference) else { return .response(Self.noOriginal) }
    let bytes = source.file.bytes
    let response = Response(
      200, [("Content-Type", source.mediaType), ("Cache-Control", "no-cache"), Response.anyOrigin],
      .gathered(ScatterGatherBody(bytes, keeping: [source.file]), 0..<bytes.count))
    return saved(
      .response(originals.isOpen ? response : response.withNoStore), reference, ending: source.ending)
  }

  /// Replies with the original of a private image, for principals that have unlocked its space.
  private func privateOriginal(_ reference: ImageReference, _ archive: TileArchive) -> Reply {
    guard let ending = SealedOriginal.ending(in: archive) else { return .response(Self.noOriginal) }
    guard let bytes = archive.entry(SealedOriginal.prefix + ending) else {
      return .problem(500, "Unreadable", "the file cannot be read from the space")
    }
    let format = ImageFormat(start: bytes.prefix(ImageFormat.signatureBytes))
    let response = Response(
      200, [("Content-Type", Self.mediaType(format))],
      .gathered(ScatterGatherBody(bytes, keeping: [archive]), 0..<bytes.count))
    return saved(.response(response), reference, ending: ending)
  }

  private static let noOriginal = Response.problem(
    404, "Not found", "the original of this image is not kept")

  private func animation(_ archive: TileArchive) -> Response {
    guard let animation = archive.buildRecord?.animation else {
      return .problem(404, "Not found", "this image is not animated")
    }
    guard let bytes = archive.bytes(of: animation) else {
      return .problem(500, "Unreadable", "the animation cannot be read from its archive")
    }
    return Response(
      200,
      [
        ("Content-Type", animation.mediaType),
        ("ETag", EntityTag(of: Array("animation".utf8), generation: archive.generation).text),
        ("Cache-Control", lifetime(of: archive)), Response.anyOrigin,
      ], .bytes(Array(bytes)))
  }
}
