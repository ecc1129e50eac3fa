import Files
import HTTPMessages
import ImageLibrary
import TileProtocols
import TileStorage

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
  func saved(_ id: ImageID, part: String = "", ending: String, _ answer: () -> Answer) -> Answer {
    guard isDownload else { return answer() }
    if let later = waiting(for: id) { return later }
    let file = Attachment(title: [title(of: id), part].joined(separator: " "), ending: ending)
    return answer().map { response in
      var response = response
      if response.status < 400 { response["Content-Disposition"] = file.disposition }
      return response
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

  /// Where it is kept, for who may change the library, or everybody where the owner wants that: it tells more than the
  /// picture does, as where it was taken.
  func originalFile(_ id: ImageID) -> OriginalFile? {
    guard !id.isPrivate, visitor.mayWrite && site.uploads != nil || site.access.offersOriginals,
      let record = try? site.library.archive(id)?.buildRecord
    else { return nil }
    // Some are kept whatever was asked for; a slide's label is for nobody but those who sent it.
    let isForWriters =
      visitor.mayWrite && (site.uploads?.limits.keepsSources == true || !record.showsWholeSource)
    guard isForWriters || site.access.offersOriginals, let enclosure = try? Enclosure(site.library.root),
      let original = OriginalFile(ofArchive: id.archive(in: site.library.root), record, within: enclosure),
      isForWriters || record.maySourceBePublic(original.kind)
    else { return nil }
    return original
  }

  func original(_ id: ImageID) -> Answer {
    guard let source = originalFile(id) else {
      return .problem(404, "Not found", "there is no file here from which this image was made")
    }
    let bytes = source.file.bytes
    let response = Response(
      200, [("Content-Type", source.mediaType), ("Cache-Control", "no-cache"), Response.anyOrigin],
      .gathered(GatheredBytes(bytes, keeping: [source.file]), 0..<bytes.count))
    return saved(id, ending: source.ending) {
      .now(site.access.offersOriginals ? response : response.madePrivate)
    }
  }
}
