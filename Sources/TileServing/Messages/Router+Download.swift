import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Answers that are saved as files, called as the picture is: those to queries with `download`.
extension Router {
  private static let name = Array("download".utf8)

  /// Whether a query may have `download`: one that has it does, and few others do. Touches no string and no object.
  static func mayBeDownload(_ query: UnsafeRawBufferPointer) -> Bool {
    let (letter, length) = (UInt8(ascii: "d"), 8)
    var start = 0
    while start + length <= query.count {
      if query[start] == letter, query[start + length - 1] == letter { return true }
      guard let end = query[start...].firstIndex(of: UInt8(ascii: "&")) else { return false }
      start = end + 1
    }
    return false
  }

  private var isDownload: Bool { request.parameters.contains { $0.name == Self.name } }

  /// The answer as a file, where it is asked for so.
  /// - Parameters:
  ///   - part: which part of the picture it shows; empty for the whole.
  ///   - ending: of the file's name.
  func saved(
    _ id: ImageID, part: String = "", ending: String, _ reply: @escaping @Sendable (Router) -> Reply
  ) -> Reply {
    guard isDownload else { return reply(self) }
    return rest(on: queueForMetadata(id)) { router in
      let file = Attachment(title: [router.title(of: id), part].joined(separator: " "), ending: ending)
      return reply(router).map { response in
        var response = response
        if response.status < 400 { response["Content-Disposition"] = file.disposition }
        return response
      }
    }
  }

  /// What the picture is called; of a page its book with the page.
  private func title(of id: ImageID) -> String {
    guard let place = place(id), let entry = try? place.library.catalogEntry(place.id)?.entry else {
      return id.name
    }
    guard let book = id.folder, entry.book != nil else { return entry.metadata.title ?? id.name }
    let page = entry.label ?? id.name
    return "\(title(ofBook: book) ?? entry.metadata.title ?? book.name) \(page)"
  }

  // MARK: The file as it was uploaded

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
    guard !id.isPrivate, visitor.mayWrite && site.uploads != nil || site.access.offersOriginals,
      let record = try? site.library.archive(id)?.buildRecord,
      isForWriters(record) || site.access.offersOriginals, let enclosure = try? Enclosure(site.library.root)
    else { return nil }
    return (record, id.archive(in: site.library.root), enclosure)
  }

  /// Whether the visitor may have the original as somebody who uploads. Some are kept whatever was asked for; a slide's
  /// label is for nobody else.
  private func isForWriters(_ record: BuildRecord) -> Bool {
    visitor.mayWrite && (site.uploads?.limits.keepsSources == true || !record.showsWholeSource)
  }

  /// The original of a private picture, for the visitors who have its space open.
  private func originalInSpace(_ id: ImageID) -> Reply {
    guard let place = place(id), let archive = try? place.library.archive(place.id),
      let ending = SealedOriginal.ending(in: archive)
    else { return .response(Self.noOriginal) }
    guard let bytes = archive.entry(SealedOriginal.prefix + ending) else {
      return .problem(500, "Unreadable", "the file cannot be read from the space")
    }
    let format = ImageFormat(start: bytes.prefix(ImageFormat.signatureBytes))
    let response = Response(
      200, [("Content-Type", Self.mediaType(format))],
      .gathered(GatheredBytes(bytes, keeping: [archive]), 0..<bytes.count))
    return saved(id, ending: ending) { _ in .response(response) }
  }

  private static func mediaType(_ format: ImageFormat?) -> String {
    format?.mediaType.description ?? "application/octet-stream"
  }

  private static let noOriginal = Response.problem(
    404, "Not found", "the original of this image is not kept")

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

  func original(_ id: ImageID) -> Reply {
    if id.isPrivate { return rest(on: site.originals) { $0.originalInSpace(id) } }
    return rest(on: mustReadOriginal(id) ? site.originals : nil) { $0.publicOriginal(id) }
  }

  private func publicOriginal(_ id: ImageID) -> Reply {
    guard let source = originalFile(id) else { return .response(Self.noOriginal) }
    let bytes = source.file.bytes
    let response = Response(
      200, [("Content-Type", source.mediaType), ("Cache-Control", "no-cache"), Response.anyOrigin],
      .gathered(GatheredBytes(bytes, keeping: [source.file]), 0..<bytes.count))
    return saved(id, ending: source.ending) {
      .response($0.site.access.offersOriginals ? response : response.madePrivate)
    }
  }
}
