import Glibc
package import TileStorage
import ZigguratCPDFContent
import ZigguratCPoppler
import ZigguratFiles

/// The metadata of a PDF and its outline.
package struct PDFDocument {
  /// An entry of the outline (ISO 32000-1, section 12.3.3), before those below it.
  package struct Entry: Hashable, Sendable {
    /// Counted from 0.
    package let depth: Int
    package let title: String
    /// Counted from 1.
    package let page: Int
  }

  /// The fields of the document, each in one line; nil if it does not have one.
  package private(set) var title, author, subject, keywords: String?
  /// The XMP packet; empty if there is none.
  package private(set) var xmp: [UInt8] = []
  /// Whether its pages follow each other from right to left.
  package private(set) var isRightToLeft = false
  /// In the order of the document.
  package private(set) var outline: [Entry] = []

  /// Maximum characters of a line, entries of an outline, and levels of nesting; more are left out.
  private static let (maxLength, maxEntries, deepest) = (500, 2000, 8)
  /// Characters of a text, and bytes of the XMP.
  private static let (maxTextLength, maxXMP) = (20_000, 4 << 20)

  /// Reads a document; `nil` if the file is no readable PDF. Untrusted files are read in a sandboxed process.
  package init?(path: String) {
    let read = Self.with(path) { document -> PDFDocument? in
      var read = PDFDocument()
      read.title = Self.taken(poppler_document_get_title(document))
      read.author = Self.taken(poppler_document_get_author(document))
      read.subject = Self.taken(poppler_document_get_subject(document), atMost: Self.maxTextLength)
      read.keywords = Self.taken(poppler_document_get_keywords(document), atMost: Self.maxTextLength)
      if let xmp = poppler_document_get_metadata(document) {
        defer { g_free(xmp) }
        let count = strlen(xmp)
        if count <= Self.maxXMP { read.xmp = Array(UnsafeRawBufferPointer(start: xmp, count: count)) }
      }
      if let first = poppler_index_iter_new(document) {
        defer { poppler_index_iter_free(first) }
        var met = 0
        read.add(first, document, depth: 0, &met)
      }
      return read
    }
    guard var read else { return nil }
    read.isRightToLeft = OpenPDF.of(path)?.withContent { pdf_is_right_to_left($0) != 0 } ?? false
    self = read
  }

  private init() {}

  /// Makes the C library load its converter of UTF-16, for the texts of PDFs. A sandboxed process cannot load it.
  static func preload() {
    // Never closed: the last one that is unloads it.
    for coding in ["UTF-16BE", "UTF-16LE"] { _ = iconv_open("UTF-8", coding) }
  }

  /// - Parameter met: counted whether they are taken or not: an outline that leads in circles has no end.
  private mutating func add(_ entries: OpaquePointer, _ document: OpaquePointer, depth: Int, _ met: inout Int)
  {
    repeat {
      met += 1
      guard met <= Self.maxEntries, let action = poppler_index_iter_get_action(entries) else { return }
      defer { poppler_action_free(action) }
      if action.pointee.type == POPPLER_ACTION_GOTO_DEST, let title = action.pointee.goto_dest.title,
        let line = Self.line(String(cString: title), atMost: Self.maxLength),
        let page = Self.page(action.pointee.goto_dest.dest, document)
      {
        outline.append(Entry(depth: depth, title: line, page: page))
      }
      if depth + 1 < Self.deepest, let below = poppler_index_iter_get_child(entries) {
        defer { poppler_index_iter_free(below) }
        add(below, document, depth: depth + 1, &met)
      }
    } while poppler_index_iter_next(entries) != 0
  }

  /// Counted from 1; nil where the destination is no page of the document.
  private static func page(_ place: UnsafeMutablePointer<PopplerDest>?, _ document: OpaquePointer) -> Int? {
    guard var place else { return nil }
    var named: UnsafeMutablePointer<PopplerDest>?
    defer { if let named { poppler_dest_free(named) } }
    if place.pointee.type == POPPLER_DEST_NAMED, let name = place.pointee.named_dest {
      named = poppler_document_find_dest(document, name)
      guard let named else { return nil }
      place = named
    }
    let page = Int(place.pointee.page_num)
    return 1...Int(max(poppler_document_get_n_pages(document), 1)) ~= page ? page : nil
  }

  private static func taken(_ text: UnsafeMutablePointer<CChar>?, atMost most: Int = maxLength) -> String? {
    guard let text else { return nil }
    defer { g_free(text) }
    return line(String(cString: text), atMost: most)
  }

  /// In one line, without control characters; nil where nothing is left.
  static func line(_ text: String, atMost most: Int) -> String? {
    let cleaned = String(
      text.unicodeScalars.prefix(most * 4).map {
        $0.properties.generalCategory == .control ? " " : Character($0)
      })
    let line = String(cleaned.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(most))
    return line.isEmpty ? nil : line
  }

  /// Returns in a clause why a page cannot be read.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - page: counted from 0.
  static func problem(path: String, page: Int) -> String {
    switch OpenPDF.of(path)?.withContent({ pdf_check($0, Int32(clamping: page + 1)) }) {
    case Int32(PDF_IS_ENCRYPTED): PDFPassword.refusal
    case Int32(PDF_HAS_NO_PAGES): "the PDF has no pages"
    case Int32(PDF_LACKS_PAGE): "the PDF has no page \(page + 1)"
    default: isCutOff(path) ? "the PDF is cut off, and nothing of it can be read" : "the PDF is damaged"
    }
  }

  /// Whether the file lacks the mark of its end (ISO 32000-1, section 7.5.5), which may stand in its last kilobyte.
  static func isCutOff(_ path: String) -> Bool {
    guard let file = ReadableFile(path: path) else { return false }
    let end = file.bytes(from: max(0, file.size - 1024), atMost: 1024)
    return end.firstRange(of: Array("%%EOF".utf8)) == nil
  }

  /// Returns the defects that poppler has found in the file since they were last cleared or returned; nil if there are
  /// none.
  package static func damage(ofFileAt path: String) -> SourceDamage? {
    let flaws = OpenPDF.takeFlaws()
    if let flaw = flaws.page ?? flaws.file ?? flaws.beside, isCutOff(path) {
      return SourceDamage(
        .truncated, "the PDF is cut off: what was at its end is missing, and pages may lack parts (\(flaw))")
    }
    if let flaw = flaws.page {
      return SourceDamage(.error, "the PDF is damaged: parts of the page may be missing or wrong (\(flaw))")
    }
    if let flaw = flaws.file {
      return SourceDamage(
        .warning, "the PDF is damaged beside its pages, and was read nevertheless (\(flaw))")
    }
    return flaws.beside.map { SourceDamage(.warning, "the PDF has flaws beside its pages (\($0))") }
  }

  /// Closes the file that stayed open for its further pages.
  package static func closeLast() { OpenPDF.closeLast() }

  /// Clears the defects of earlier reads.
  package static func forgetDamage() { _ = OpenPDF.takeFlaws() }

  /// Returns the result of `use` with the document; nil if the file is no PDF that can be read.
  static func with<Result>(_ path: String, _ use: (OpaquePointer) -> Result?) -> Result? {
    OpenPDF.of(path)?.withDocument(use)
  }
}
