import Foundation
package import TileStorage
import ZigguratFiles

/// The metadata of an XMP sidecar, as Lightroom, darktable and digiKam write it (XMP specification, part 3, section 5).
/// Its bytes are in a `SidecarFile`, or sealed. It precedes the picture's own metadata.
package struct Sidecar: Sendable, Codable {
  private let metadata: ImageMetadata
  /// Fields that a person has cleared here, so that the picture's own values do not return.
  private let removed: Set<String>

  /// Parses a sidecar; nil if the bytes are not XMP.
  ///
  /// - Parameter isPrivate: whether no process that has read other data may see these.
  package init?(_ bytes: [UInt8], isPrivate: Bool = false) throws(MetadataUnavailable) {
    let answer = try MetadataWorker.ask(MetadataWorker.read, bytes, isPrivate: isPrivate)
    guard !answer.isEmpty, let sidecar = try? InputLimit.message.json.decode(Sidecar.self, from: answer)
    else {
      return nil
    }
    self = sidecar
  }

  /// Returns why bytes are not a valid sidecar, in a clause.
  package static func problem(_ bytes: [UInt8]) -> String {
    XMPText.problem(bytes)
      ?? "is XMP that cannot be read, or not within \(MetadataWorker.processorSeconds) s of processor time"
  }

  /// Parses a sidecar in this process.
  init?(parsing bytes: [UInt8]) {
    let read = exiv2.withLock { _ in
      MetadataFile(xmp: bytes).map { file in
        let removed = Self.removed(file)
        var metadata = ImageMetadata(file, of: .sidecar)
        // Other fields than Dublin Core's do not replace a cleared one.
        if removed.contains("title"), file.alternative("Xmp.dc.title") == nil {
          metadata.title = nil
          metadata.titles = [:]
        }
        return (metadata, removed)
      }
    }
    guard let read else { return nil }
    (metadata, removed) = read
  }

  /// Returns the metadata of a picture that had the metadata `own` when it was built.
  package func applied(to own: ImageMetadata) -> ImageMetadata {
    var result = own
    // Titles of two authors are not translations of each other.
    if metadata.title != nil || !metadata.titles.isEmpty || removed.contains("title") {
      result.title = metadata.title
      result.titles = metadata.titles
    }
    result.caption = metadata.caption ?? (removed.contains("caption") ? nil : own.caption)
    if !metadata.keywords.isEmpty || removed.contains("keywords") { result.keywords = metadata.keywords }
    if !metadata.creators.isEmpty { result.creators = metadata.creators }
    result.date = metadata.date ?? own.date
    result.place = metadata.place ?? own.place
    result.rights = metadata.rights ?? own.rights
    result.usageTerms = metadata.usageTerms ?? own.usageTerms
    // A new licence replaces the old one, also if another field contained it.
    if metadata.license != nil || metadata.webStatement != nil
      || metadata.rights.flatMap(ImageMetadata.webAddress) != nil
    {
      result.license = metadata.license
      result.webStatement = metadata.webStatement
      if metadata.rights == nil, own.rights.flatMap(ImageMetadata.webAddress) != nil { result.rights = nil }
    }
    result.identifier = metadata.identifier ?? own.identifier
    result.source = metadata.source ?? own.source
    result.credit = metadata.credit ?? own.credit
    return result
  }

  private static let removedTag = "Xmp.ziggurat.Removed"

  private static func removed(_ file: MetadataFile) -> Set<String> {
    Set((file.text(removedTag) ?? "").split(separator: " ").map(String.init))
  }

  /// Returns a sidecar with the edit in it, and everything else unchanged.
  /// - Parameter bytes: the bytes of the present sidecar; empty if there is none.
  /// - Returns: nil if they are not XMP: an unreadable file is not overwritten.
  package static func edited(
    _ bytes: [UInt8], _ edit: MetadataEdit, isPrivate: Bool = false
  ) throws(MetadataUnavailable) -> [UInt8]? {
    let question = MetadataWorker.EditQuestion(sidecar: Data(bytes), edit: edit)
    // Texts always encode.
    let asked = Array(try! JSONEncoder().encode(question))
    let answer = try MetadataWorker.ask(MetadataWorker.edit, asked, isPrivate: isPrivate)
    return answer.isEmpty ? nil : answer
  }

  /// Writes the edit in this process.
  static func write(_ edit: MetadataEdit, into bytes: [UInt8]) -> [UInt8]? {
    exiv2.withLock { _ in
      guard let file = MetadataFile(xmp: bytes.isEmpty ? Array(empty.utf8) : bytes) else { return nil }
      var removed = removed(file)
      func change(_ name: String, _ tag: String, isEmpty: Bool, _ write: () -> Bool) -> Bool {
        if isEmpty { removed.insert(name) } else { removed.remove(name) }
        return isEmpty ? file.clear(tag) : write()
      }
      if let title = edit.title {
        guard
          change("title", "Xmp.dc.title", isEmpty: title.isEmpty, { file.setDefault("Xmp.dc.title", title) })
        else { return nil }
      }
      if let caption = edit.caption {
        let tag = "Xmp.dc.description"
        guard change("caption", tag, isEmpty: caption.isEmpty, { file.setDefault(tag, caption) }) else {
          return nil
        }
      }
      if let keywords = edit.keywords {
        let tag = "Xmp.dc.subject"
        guard change("keywords", tag, isEmpty: keywords.isEmpty, { file.set(tag, keywords) }) else {
          return nil
        }
      }
      let isMarked =
        removed.isEmpty
        ? file.clear(removedTag) : file.setText(removedTag, removed.sorted().joined(separator: " "))
      guard isMarked, let xmp = file.xmp, holds(xmp, edit) else { return nil }
      return xmp
    }
  }

  /// Whether the edit can be read from the result: Exiv2 writes a namespace's name unescaped, with its quotes.
  private static func holds(_ xmp: [UInt8], _ edit: MetadataEdit) -> Bool {
    guard let file = MetadataFile(xmp: xmp) else { return false }
    let metadata = ImageMetadata(file, of: .sidecar)
    func isThere(_ wanted: String?, _ found: String?) -> Bool { wanted?.isEmpty != false || found != nil }
    return isThere(edit.title, metadata.title) && isThere(edit.caption, metadata.caption)
      && (edit.keywords?.isEmpty != false || !metadata.keywords.isEmpty)
  }

  private static let empty =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
    + "<rdf:Description rdf:about=\"\"/></rdf:RDF></x:xmpmeta>"
}
