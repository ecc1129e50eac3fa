import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// The dependencies of handlers that find images and read their metadata.
final class ImageAccess: Sendable {
  let library: any ImageRepository
  /// Runs queries of the catalog.
  let catalogQueue: BlockingQueue
  /// Runs reads of metadata that are not in memory.
  let metadataQueue: BlockingQueue
  /// Runs reads of originals, one at a time, so that later ones find the digest.
  let originalQueue: BlockingQueue
  /// The seed of the surrogate keys by which a shared cache purges images; nil if there is no such cache.
  let surrogateSeed: SurrogateKey.Seed?
  let cacheControl: CacheControlHeaders

  init(
    library: any ImageRepository, catalogQueue: BlockingQueue, metadataQueue: BlockingQueue,
    originalQueue: BlockingQueue, surrogateSeed: SurrogateKey.Seed?, cacheControl: CacheControlHeaders
  ) {
    self.library = library
    self.catalogQueue = catalogQueue
    self.metadataQueue = metadataQueue
    self.originalQueue = originalQueue
    self.surrogateSeed = surrogateSeed
    self.cacheControl = cacheControl
  }
}

/// A handler that finds images.
protocol LibraryHandler: Handler {
  var images: ImageAccess { get }
}

extension LibraryHandler {
  var library: any ImageRepository { images.library }

  /// Returns the repository for the principal; nil for a space that is not unlocked.
  func repository(_ repository: ImageReference.Repository) -> (any ImageRepository)? {
    switch repository {
    case .library: library
    case .space: principal.space?.library
    }
  }

  /// Returns the repository of an image, with the image's id there; nil if the image is in a space that is not
  /// unlocked.
  func place(_ reference: ImageReference) -> (library: any ImageRepository, id: ImageID)? {
    repository(reference.repository).map { ($0, reference.id) }
  }

  /// Makes the reply for an image, or an error response.
  ///
  /// - Parameter reference: nil if the path names no image.
  func found(
    _ reference: ImageReference?, problem: Bool, _ answer: (ImageReference, TileArchive) -> Reply
  ) -> Reply {
    let found = find(reference, problem) { (reference, place) throws(StorageError) in
      try place.library.archive(place.id, generation: namedGeneration).map { (reference, $0) }
    }
    return switch found {
    case .success(let (reference, archive)): withSurrogateKey(answer(reference, archive), reference)
    case .failure(let refusal): .response(refusal.response)
    }
  }

  /// Makes the rest of the reply when the existence of these images is known. Makes it immediately if it is already
  /// known, or cannot be determined at present.
  func knowing(
    _ references: @autoclosure () -> [ImageReference], _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    let lookup = library.lookup(
      of: references().filter { !$0.isPrivate }.map(\.id), generation: namedGeneration)
    guard let lookup else { return rest(self) }
    let references = references()
    return waiting(for: lookup) { $0.knowing(references, rest) }
  }

  /// Returns the queue on which the metadata of an image are read; nil if they are in memory.
  func queueForMetadata(_ reference: ImageReference?) -> BlockingQueue? {
    guard let place = reference.flatMap(place), let entry = try? place.library.entry(place.id), !entry.isQuick
    else {
      return nil
    }
    return images.metadataQueue
  }

  /// Whether a database must be asked if the id is that of a book, or of a page and its book.
  func asksDatabase(about reference: ImageReference?) -> Bool {
    reference.flatMap(place).map { $0.library.asksDatabase(about: $0.id) } ?? false
  }

  /// Whether the image exists, even if it is damaged.
  func isImage(_ reference: ImageReference?) -> Bool {
    reference.flatMap(place).flatMap { try? $0.library.entry($0.id) } != nil
  }

  /// Whether it is certain that no image has the id.
  func isNoImage(_ place: (library: any ImageRepository, id: ImageID)) -> Bool {
    do throws(StorageError) { return try place.library.entry(place.id) == nil } catch { return false }
  }

  /// Whether it is unknown at present if an image or a book has the id.
  func isUndecided(_ reference: ImageReference) -> Bool {
    !reference.isPrivate && library.isUndecided(reference.id)
  }

  /// Makes the reply from an image and its metadata.
  func known(
    _ reference: ImageReference?, problem: Bool,
    _ answer: @escaping @Sendable (Self, FoundEntry, TileArchive) -> Response
  ) -> Reply {
    rest(on: queueForMetadata(reference)) { handler in
      .response(handler.knownNow(reference, problem: problem) { answer(handler, $0, $1) })
    }
  }

  /// Makes the response from an image and its metadata; may block.
  func knownNow(
    _ reference: ImageReference?, problem: Bool, _ answer: (FoundEntry, TileArchive) -> Response
  ) -> Response {
    let found = find(reference, problem) { (reference, place) throws(StorageError) in
      try place.library.catalogEntry(place.id).map {
        (FoundEntry($0.entry, in: reference.repository), $0.archive)
      }
    }
    switch found {
    case .failure(let refusal): return refusal.response
    case .success(let (found, archive)):
      let response = withSurrogateKey(answer(found, archive), found.reference)
      return found.entry.isWordless ? response.uncacheable : response
    }
  }

  private func find<Found>(
    _ reference: ImageReference?, _ problem: Bool,
    _ look: (ImageReference, (library: any ImageRepository, id: ImageID)) throws(StorageError) -> Found?
  ) -> Result<Found, ImageRefusal> {
    do throws(StorageError) {
      if let reference, let place = place(reference), let found = try look(reference, place) {
        return .success(found)
      }
    } catch {
      // The reason contains host paths, which clients must not see.
      switch error.kind {
      case .notFound: break
      case .unreachable: return .failure(ImageRefusal(response: unavailable))
      case .unreadable:
        let text = "the archive of this image cannot be read"
        let response: Response = problem ? .problem(500, "Unreadable", text) : .text(500, text)
        return .failure(ImageRefusal(response: response.withReason(error)))
      }
    }
    if let reference, isUndecided(reference) { return .failure(ImageRefusal(response: unavailable)) }
    let text = "there is no image of this id"
    return .failure(ImageRefusal(response: problem ? .problem(404, "Not found", text) : .text(404, text)))
  }
}

/// The response instead of one about an image.
private struct ImageRefusal: Error {
  let response: Response
}
