package import TileStorage

/// Metadata of a document, such as a PDF.
package struct DocumentMetadata: Sendable {
  package var title, author, subject, keywords: String?
  /// The XMP packet; empty if there is none.
  package var xmp: [UInt8] = []

  package init() {}
}

extension ImageMetadata {
  /// Creates a document's metadata. Its XMP precedes its own fields, which ISO 32000-2, section 14.3.3, deprecates.
  ///
  /// The date on which a program wrote the document is ignored: it is not the date of the content.
  package init(_ document: DocumentMetadata) {
    self.init()
    if !document.xmp.isEmpty {
      exiv2.withLock { _ in
        if let file = MetadataFile(xmp: document.xmp) { self = ImageMetadata(file, of: .document) }
      }
    }
    title = title ?? document.title
    caption = caption ?? document.subject
    if creators.isEmpty { creators = Self.unique(Self.list(document.author ?? "", separators: ";")) }
    if keywords.isEmpty, let joined = document.keywords {
      keywords = Self.unique(Self.list(joined, separators: joined.contains(";") ? ";" : ","))
    }
    bound()
    removePatients()
  }

  /// Returns the parts of a text with separators, trimmed, without empty ones.
  static func list(_ text: String, separators: String) -> [String] {
    text.split(whereSeparator: separators.contains)
      .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
  }
}
