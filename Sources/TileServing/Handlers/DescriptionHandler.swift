import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata
import ZigguratTileProtocols
import ZigguratUploading

/// The conditions for downloads of originals.
struct OriginalAccess: Sendable {
  /// Whether every client may download originals.
  let isOpen: Bool
  /// The uploads; nil if the server accepts none.
  let uploads: Uploads?
}

/// A handler that describes images, including their originals.
protocol DescribingHandler: LibraryHandler {
  var originals: OriginalAccess { get }
}

extension DescribingHandler {
  /// Makes the rest of the reply when an image can be described without blocking.
  func describing(
    _ reference: ImageReference?, _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    guard let reference, offersOriginal(reference) else {
      let queue =
        queueForMetadata(reference) ?? (asksDatabase(about: reference) ? images.catalogQueue : nil)
      return self.rest(on: queue, rest)
    }
    return whereOriginalIsRead(reference) { handler in
      handler.rest(on: handler.asksDatabase(about: reference) ? handler.images.catalogQueue : nil, rest)
    }
  }

  /// Makes the rest of the reply when the original of an image can be read. Its paths are looked up on a thread that
  /// may block, because the disk may hang. If the file must be read to its end, that is done on another thread.
  func whereOriginalIsRead(
    _ reference: ImageReference, _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    self.rest(on: images.metadataQueue) { handler in
      handler.mustReadOriginal(reference)
        ? handler.rest(on: handler.images.originalQueue, rest) : rest(handler)
    }
  }

  func description(of reference: ImageReference?) -> Response {
    do throws(StorageError) {
      if let reference, let book = try description(ofBook: reference) { return .json(book) }
    } catch { return .catalogError(error) }
    return knownNow(reference, problem: true) { found, archive in
      var found = found
      var pages = 1
      if let book = found.book {
        do throws(StorageError) {
          pages = try pageCount(ofBook: book)
          if found.entry.page == nil {
            found.entry.page = try number(ofPage: found.entry.id, in: book)
          }
        } catch { return .catalogError(error) }
      }
      guard var description = ImageDescription(found, pages: pages, base: base) else {
        return .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
      description.animation = archive.buildRecord?.animation.map { animation in
        ImageDescription.Animation(
          frames: animation.frames, type: animation.mediaType,
          url: "\(url(of: found.reference))/animation?v=\(description.generation)")
      }
      description.dimensions = archive.buildRecord?.dimensions
      let book = found.book.flatMap(describedBook)
      description.bookTitle = book?.metadata.title
      description.viewingDirection = book?.viewingDirection?.rawValue
      guard let original = originalDescription(found.reference, archive) else {
        return .json(description)
      }
      description.original = original
      let response = Response.json(description)
      return originals.isOpen ? response : response.withNoStore(keepingTag: true)
    }
  }

  private func url(of reference: ImageReference) -> String {
    "\(base)/api/images/\(PercentEncoding.encode(reference.text))"
  }

  /// Returns the description of a book; nil if an image has its id, or there is no such book.
  private func description(ofBook book: ImageReference) throws(StorageError) -> ImageDescription? {
    guard let place = place(book), isNoImage(place) else { return nil }
    var description = try cover(ofBook: book).flatMap(described(item:))
    description?.viewingDirection = describedBook(book)?.viewingDirection?.rawValue
    return description
  }

  // MARK: Originals

  /// Returns the original of an image, for principals that may change the library, or for every client if the owner
  /// allows that. An original contains more than the picture shows, for example GPS coordinates.
  func originalFile(_ reference: ImageReference) -> OriginalFile? {
    guard let (record, archive, enclosure) = offeredRecord(reference),
      let original = OriginalFile(ofArchive: archive, record, within: enclosure),
      isForWriters(record) || record.maySourceBePublic(original.kind)
    else { return nil }
    return original
  }

  /// Whether the original must be read to its end before it can be offered.
  func mustReadOriginal(_ reference: ImageReference) -> Bool {
    guard let (record, archive, enclosure) = offeredRecord(reference) else { return false }
    return OriginalFile.mustBeRead(ofArchive: archive, record, within: enclosure)
  }

  private func offeredRecord(_ reference: ImageReference) -> (BuildRecord, archive: String, RootDirectory)? {
    guard let record = recordOfOffer(reference), let enclosure = try? RootDirectory(library.root) else {
      return nil
    }
    return (record, reference.id.archive(in: library.root), enclosure)
  }

  /// Whether the principal may download the original of an image, if there is one. Accesses no file.
  func offersOriginal(_ reference: ImageReference) -> Bool { recordOfOffer(reference) != nil }

  private func recordOfOffer(_ reference: ImageReference) -> BuildRecord? {
    guard !reference.isPrivate, principal.mayWrite && originals.uploads != nil || originals.isOpen,
      let record = try? library.archive(reference.id)?.buildRecord, isForWriters(record) || originals.isOpen
    else { return nil }
    return record
  }

  /// Whether the principal may download the original because it may upload. Some originals are kept in any case; a
  /// slide's label is for no other client.
  private func isForWriters(_ record: BuildRecord) -> Bool {
    principal.mayWrite && (originals.uploads?.limits.keepsSources == true || !record.showsWholeSource)
  }

  static func mediaType(_ format: ImageFormat?) -> String {
    format?.mediaType.description ?? "application/octet-stream"
  }

  /// Describes the original of an image to principals that may download it.
  private func originalDescription(
    _ reference: ImageReference, _ archive: TileArchive
  ) -> ImageDescription.Original? {
    let url = "\(url(of: reference))/original"
    if reference.isPrivate {
      guard let ending = SealedOriginal.ending(in: archive), let record = archive.buildRecord else {
        return nil
      }
      let format = ImageFormat.uploads.first { $0.endings.contains(ending.lowercased()) }
      return ImageDescription.Original(
        bytes: record.sourceBytes, type: Self.mediaType(format), url: url)
    }
    return originalFile(reference).map {
      ImageDescription.Original(bytes: $0.file.bytes.count, type: $0.mediaType, url: url)
    }
  }
}

/// Serves `/api/images/{id}`.
struct DescriptionHandler: DescribingHandler {
  var context: RequestContext
  let images: ImageAccess
  let originals: OriginalAccess

  func reply(_ reference: ImageReference?) -> Reply {
    describing(reference) { .response($0.description(of: reference)) }
  }
}
