import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols

/// Responses that are saved as files, named after the image: those to queries with `download`.
enum Download {
  fileprivate static let name = Array("download".utf8)

  /// Whether a query may have `download`: one that has it does, and few others do. Touches no string and no object.
  static func isPossible(_ query: UnsafeRawBufferPointer) -> Bool {
    let (letter, length) = (UInt8(ascii: "d"), 8)
    var start = 0
    while start + length <= query.count {
      if query[start] == letter, query[start + length - 1] == letter { return true }
      guard let end = query[start...].firstIndex(of: UInt8(ascii: "&")) else { return false }
      start = end + 1
    }
    return false
  }
}

extension LibraryHandler {
  private var isDownload: Bool { request.parameters.contains { $0.name == Download.name } }

  /// Makes the rest of the reply where the image's title can be read, if the response is to be saved as a file.
  func forDownload(
    _ reference: ImageReference?, _ rest: @escaping @Sendable (Self) -> Reply
  ) -> Reply {
    self.rest(on: isDownload ? queueForMetadata(reference) : nil, rest)
  }

  /// The reply as a file, if the query asks for that. It reads the title of the image, which may block.
  /// - Parameters:
  ///   - part: which part of the picture it shows; empty for the whole.
  ///   - ending: of the file's name.
  func saved(
    _ reply: Reply, _ reference: ImageReference, part: @autoclosure () -> String = "", ending: String
  ) -> Reply {
    guard isDownload else { return reply }
    let file = Attachment(title: [title(of: reference), part()].joined(separator: " "), ending: ending)
    return reply.map { response in
      var response = response
      if response.status < 400 { response["Content-Disposition"] = file.disposition }
      return response
    }
  }

  /// Returns the title of an image; for a page the title of its book and the name of the page.
  private func title(of reference: ImageReference) -> String {
    let name = reference.id.name
    guard let place = place(reference), let entry = try? place.library.catalogEntry(place.id)?.entry else {
      return name
    }
    guard let book = reference.folder, entry.book != nil else { return entry.metadata.title ?? name }
    return "\(title(ofBook: book) ?? entry.metadata.title ?? book.id.name) \(entry.label ?? name)"
  }
}
