import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// What handlers need to find images and to read their metadata.
final class ImageAccess: Sendable {
  let library: any ImageRepository
  /// Runs queries of the catalog.
  let catalogQueue: BlockingQueue
  /// Runs reads of metadata that are not in memory.
  let metadataQueue: BlockingQueue
  /// Runs reads of originals, one at a time: those after it find its digest.
  let originalQueue: BlockingQueue
  /// The seed of the keys by which a shared cache forgets images; nil if there is no such cache.
  let surrogateSeed: SurrogateKey.Seed?
  let cacheWords: CacheWords

  init(
    library: any ImageRepository, catalogQueue: BlockingQueue, metadataQueue: BlockingQueue,
    originalQueue: BlockingQueue, surrogateSeed: SurrogateKey.Seed?, cacheWords: CacheWords
  ) {
    self.library = library
    self.catalogQueue = catalogQueue
    self.metadataQueue = metadataQueue
    self.originalQueue = originalQueue
    self.surrogateSeed = surrogateSeed
    self.cacheWords = cacheWords
  }
}

/// A handler that finds images.
protocol LibraryHandler: Handler {
  var images: ImageAccess { get }
}

extension LibraryHandler {
  var library: any ImageRepository { images.library }

  /// The library that has an image of this id for the visitor, and what the image is called there; nil for
  /// ids of a space that is not unlocked.
  func place(_ id: ImageID) -> (library: any ImageRepository, id: ImageID)? {
    guard let own = id.unmarked else { return (library, id) }
    return visitor.space.map { ($0.library, own) }
  }

  /// - Parameter id: nil where the request's is none, of which there is no image either.
  func found(_ id: ImageID?, problem: Bool, _ answer: (ImageID, TileArchive) -> Reply) -> Reply {
    let found = find(id, problem) { (id, place) throws(StorageError) in
      try place.library.archive(place.id, generation: namedGeneration).map { (id, $0) }
    }
    return switch found {
    case .success(let (id, archive)): keyed(answer(id, archive), id)
    case .failure(let refusal): .response(refusal.response)
    }
  }

  /// Makes the rest of the reply when it is known whether there are these images; at once if it is known, or cannot be known
  /// at present.
  func knowing(
    _ ids: @autoclosure () -> [ImageID], _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    let lookup = library.lookup(of: ids().filter { !$0.isPrivate }, generation: namedGeneration)
    guard let lookup else { return rest(self) }
    let ids = ids()
    return waiting(for: lookup) { $0.knowing(ids, rest) }
  }

  /// The queue on which the metadata of an image are read; nil if they are in memory.
  func queueForMetadata(_ id: ImageID?) -> BlockingQueue? {
    guard let place = id.flatMap(place), let entry = try? place.library.entry(place.id), !entry.isQuick else {
      return nil
    }
    return images.metadataQueue
  }

  /// Whether a database has to be asked what the id is: a book, or a page of which one.
  func asksDatabase(about id: ImageID?) -> Bool {
    id.flatMap(place).map { $0.library.asksDatabase(about: $0.id) } ?? false
  }

  /// Whether there is an image of this id, be it damaged.
  func isImage(_ id: ImageID?) -> Bool {
    id.flatMap(place).flatMap { try? $0.library.entry($0.id) } != nil
  }

  /// Whether there is surely no image of the id.
  func isNoImage(_ place: (library: any ImageRepository, id: ImageID)) -> Bool {
    do throws(StorageError) { return try place.library.entry(place.id) == nil } catch { return false }
  }

  /// Whether it is unknown at present if there is an image or a book of the id.
  func isUntold(_ id: ImageID) -> Bool {
    !id.isPrivate && library.isUndecided(id)
  }

  /// A reply from what is known of the image, its metadata included.
  func known(
    _ id: ImageID?, problem: Bool,
    _ answer: @escaping @Sendable (Self, CatalogEntry, TileArchive) -> Response
  ) -> Reply {
    rest(on: queueForMetadata(id)) { handler in
      .response(handler.knownNow(id, problem: problem) { answer(handler, $0, $1) })
    }
  }

  /// The same at once; it may block.
  func knownNow(
    _ id: ImageID?, problem: Bool, _ answer: (CatalogEntry, TileArchive) -> Response
  ) -> Response {
    let found = find(id, problem) { (id, place) throws(StorageError) in
      var found = try place.library.catalogEntry(place.id)
      if id.isPrivate, let entry = found?.entry.marked { found?.entry = entry }
      return found
    }
    switch found {
    case .failure(let refusal): return refusal.response
    case .success(let found):
      let response = keyed(answer(found.entry, found.archive), found.entry.id)
      return found.entry.isWordless ? response.forNow : response
    }
  }

  private func find<Found>(
    _ id: ImageID?, _ problem: Bool,
    _ look: (ImageID, (library: any ImageRepository, id: ImageID)) throws(StorageError) -> Found?
  ) -> Result<Found, ImageRefusal> {
    do throws(StorageError) {
      if let id, let place = place(id), let found = try look(id, place) { return .success(found) }
    } catch {
      // The reason names host paths, which are not a client's business.
      switch error.kind {
      case .notThere: break
      case .unreachable: return .failure(ImageRefusal(heldUp))
      case .unreadable:
        let text = "the archive of this image cannot be read"
        let response: Response = problem ? .problem(500, "Unreadable", text) : .text(500, text)
        return .failure(ImageRefusal(response.because(error)))
      }
    }
    if let id, isUntold(id) { return .failure(ImageRefusal(heldUp)) }
    let text = "there is no image of this id"
    return .failure(ImageRefusal(problem ? .problem(404, "Not found", text) : .text(404, text)))
  }
}

/// The response in place of one about an image.
private struct ImageRefusal: Error {
  let response: Response

  init(_ response: Response) { self.response = response }
}
