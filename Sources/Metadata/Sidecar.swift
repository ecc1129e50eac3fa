import Foundation
package import TileStorage
import ZigguratFiles

/// What an XMP sidecar says, as Lightroom, darktable and digiKam write it (XMP specification, part 3, section 5),
/// wherever its bytes lie: in a `SidecarFile`, or sealed. It stands before what the picture itself said.
package struct Sidecar: Sendable, Codable {
  private let metadata: ImageMetadata
  /// Fields that somebody has emptied here, so that the picture's own words do not come back.
  private let removed: Set<String>

  /// Nil where the bytes are no XMP.
  ///
  /// - Parameter isPrivate: no cell that has read another's words may see these.
  package init?(_ bytes: [UInt8], isPrivate: Bool = false) throws(WordsUnavailable) {
    let answer = try MetadataCell.ask(MetadataCell.read, bytes, isPrivate: isPrivate)
    guard !answer.isEmpty, let sidecar = try? InputLimit.message.json.decode(Sidecar.self, from: answer)
    else {
      return nil
    }
    self = sidecar
  }

  /// Returns why bytes of which no sidecar could be made are none, in a clause.
  package static func problem(_ bytes: [UInt8]) -> String {
    XMPText.problem(bytes)
      ?? "is XMP that cannot be read, or not within \(MetadataCell.processorSeconds) s of processor time"
  }

  /// In this process.
  init?(parsing bytes: [UInt8]) {
    let read = exiv2.withLock { _ in
      MetadataFile(xmp: bytes).map { file in
        let removed = Self.removed(file)
        var metadata = ImageMetadata(file, of: .sidecar)
        // Other fields than Dublin Core's do not stand for what was emptied.
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

  /// What is known of a picture that said `own` when it was built.
  package func applied(to own: ImageMetadata) -> ImageMetadata {
    var result = own
    // Titles of two authors are no translations of each other.
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
    // Who names a licence anew takes back the one before, whichever field named it.
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

  /// A sidecar with the edit in it, and everything else as it was.
  /// - Parameter bytes: of the sidecar so far; empty where there is none.
  /// - Returns: nil where they are no XMP: what cannot be read is not overwritten.
  package static func edited(
    _ bytes: [UInt8], _ edit: MetadataEdit, isPrivate: Bool = false
  ) throws(WordsUnavailable) -> [UInt8]? {
    let question = MetadataCell.EditQuestion(sidecar: Data(bytes), edit: edit)
    // Texts always encode.
    let asked = Array(try! JSONEncoder().encode(question))
    let answer = try MetadataCell.ask(MetadataCell.edit, asked, isPrivate: isPrivate)
    return answer.isEmpty ? nil : answer
  }

  /// In this process.
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

  /// Whether the edit can be read from what was written: Exiv2 writes a namespace's name as it stands, quotes and all.
  private static func holds(_ xmp: [UInt8], _ edit: MetadataEdit) -> Bool {
    guard let file = MetadataFile(xmp: xmp) else { return false }
    let words = ImageMetadata(file, of: .sidecar)
    func isThere(_ wanted: String?, _ found: String?) -> Bool { wanted?.isEmpty != false || found != nil }
    return isThere(edit.title, words.title) && isThere(edit.caption, words.caption)
      && (edit.keywords?.isEmpty != false || !words.keywords.isEmpty)
  }

  private static let empty =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
    + "<rdf:Description rdf:about=\"\"/></rdf:RDF></x:xmpmeta>"
}
