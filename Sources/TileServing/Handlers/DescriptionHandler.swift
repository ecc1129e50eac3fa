import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratMetadata
import ZigguratTileProtocols
import ZigguratUploading

/// Who may download originals.
struct OriginalAccess: Sendable {
  /// Whether everybody may.
  let isOpen: Bool
  /// Nil if the server accepts no uploads.
  let uploads: Uploads?
}

/// A handler that describes images, their originals included.
protocol DescribingHandler: LibraryHandler {
  var originals: OriginalAccess { get }
}

extension DescribingHandler {
  /// Makes the rest of the reply where an image can be described.
  func describing(_ id: ImageID?, _ rest: @escaping @Sendable (Self) -> Reply) -> Reply {
    guard let id, offersOriginal(id) else {
      return self.rest(
        on: queueForMetadata(id) ?? (asksDatabase(about: id) ? images.catalogQueue : nil), rest)
    }
    return whereOriginalIsRead(id) { handler in
      handler.rest(on: handler.asksDatabase(about: id) ? handler.images.catalogQueue : nil, rest)
    }
  }

  /// Makes the rest of the reply where the original of an image can be read. Its paths are looked up on a thread that may block,
  /// since their disk may hang, and on another if it must be read to its end.
  func whereOriginalIsRead(_ id: ImageID, _ rest: @escaping @Sendable (Self) -> Reply) -> Reply {
    self.rest(on: images.metadataQueue) { handler in
      handler.mustReadOriginal(id) ? handler.rest(on: handler.images.originalQueue, rest) : rest(handler)
    }
  }

  func description(of id: ImageID?) -> Response {
    do throws(StorageError) {
      if let id, let book = try description(ofBook: id) { return .json(book) }
    } catch { return .unlisted(error) }
    return knownNow(id, problem: true) { entry, archive in
      var entry = entry
      var pages = 1
      if let book = entry.book {
        do throws(StorageError) {
          pages = try pageCount(ofBook: book)
          if entry.page == nil { entry.page = try number(ofPage: entry.id, in: book) }
        } catch { return .unlisted(error) }
      }
      guard var description = ImageDescription(entry, pages: pages, base: base) else {
        return .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
      description.animation = archive.buildRecord?.animation.map { animation in
        ImageDescription.Animation(
          frames: animation.frames, type: animation.mediaType,
          url:
            "\(base)/api/images/\(PercentEncoding.encode(entry.id.text))/animation?v=\(description.generation)"
        )
      }
      description.dimensions = archive.buildRecord?.dimensions
      let book = entry.book.flatMap(describedBook)
      description.bookTitle = book?.metadata.title
      description.viewingDirection = book?.viewingDirection?.rawValue
      guard let original = originalDescription(entry.id, archive, base: base) else {
        return .json(description)
      }
      description.original = original
      let response = Response.json(description)
      return originals.isOpen ? response : response.madePrivate(keepingTag: true)
    }
  }

  /// Where there is a book of this id, and no image.
  private func description(ofBook id: ImageID) throws(StorageError) -> ImageDescription? {
    guard let place = place(id), isNoImage(place) else { return nil }
    var description = try cover(ofBook: id).flatMap(described(item:))
    description?.viewingDirection = describedBook(id)?.viewingDirection?.rawValue
    return description
  }

  // MARK: Originals

  /// The original of an image, for visitors who may change the library, or everybody if the owner wants that: it
  /// holds more than the picture shows, such as the place where it was taken.
  func originalFile(_ id: ImageID) -> OriginalFile? {
    guard let (record, archive, enclosure) = offeredRecord(id),
      let original = OriginalFile(ofArchive: archive, record, within: enclosure),
      isForWriters(record) || record.maySourceBePublic(original.kind)
    else { return nil }
    return original
  }

  /// Whether the original has to be read to its end before it can be offered.
  func mustReadOriginal(_ id: ImageID) -> Bool {
    guard let (record, archive, enclosure) = offeredRecord(id) else { return false }
    return OriginalFile.mustBeRead(ofArchive: archive, record, within: enclosure)
  }

  private func offeredRecord(_ id: ImageID) -> (BuildRecord, archive: String, Enclosure)? {
    guard let record = recordOfOffer(id), let enclosure = try? Enclosure(library.root) else { return nil }
    return (record, id.archive(in: library.root), enclosure)
  }

  /// Whether the visitor may have the original of an image, if there is one. Looks at no file.
  func offersOriginal(_ id: ImageID) -> Bool { recordOfOffer(id) != nil }

  private func recordOfOffer(_ id: ImageID) -> BuildRecord? {
    guard !id.isPrivate, visitor.mayWrite && originals.uploads != nil || originals.isOpen,
      let record = try? library.archive(id)?.buildRecord, isForWriters(record) || originals.isOpen
    else { return nil }
    return record
  }

  /// Whether the visitor may have the original as somebody who uploads. Some are kept whatever was asked for; a slide's
  /// label is for nobody else.
  private func isForWriters(_ record: BuildRecord) -> Bool {
    visitor.mayWrite && (originals.uploads?.limits.keepsSources == true || !record.showsWholeSource)
  }

  static func mediaType(_ format: ImageFormat?) -> String {
    format?.mediaType.description ?? "application/octet-stream"
  }

  /// Describes the original of an image to the visitors who may download it.
  func originalDescription(_ id: ImageID, _ archive: TileArchive, base: String) -> ImageDescription.Original?
  {
    let url = "\(base)/api/images/\(PercentEncoding.encode(id.text))/original"
    if id.isPrivate {
      guard let ending = SealedOriginal.ending(in: archive), let record = archive.buildRecord else {
        return nil
      }
      let format = ImageFormat.uploads.first { $0.endings.contains(ending.lowercased()) }
      return ImageDescription.Original(
        bytes: record.sourceBytes, type: Self.mediaType(format), url: url)
    }
    return originalFile(id).map {
      ImageDescription.Original(bytes: $0.file.bytes.count, type: $0.mediaType, url: url)
    }
  }
}

/// `/api/images/{id}`
struct DescriptionHandler: DescribingHandler {
  var call: Call
  let images: ImageAccess
  let originals: OriginalAccess

  func reply(_ id: ImageID?) -> Reply {
    describing(id) { .response($0.description(of: id)) }
  }
}
