import Glibc
import Synchronization
import ZigguratCPDFContent
import ZigguratCPoppler

/// A PDF that stays open while its pages are read: opening it and finding a page take time in proportion to its number
/// of pages.
///
/// It is opened twice: poppler's GLib interface draws, the C++ interface records the content of a page.
final class OpenPDF: Sendable {
  private struct Handles: ~Copyable, @unchecked Sendable {
    // Sendable: poppler's objects may be used by one thread at a time, which the mutex sees to.
    var content, document: OpaquePointer?

    deinit {
      if let content { pdf_close(content) }
      if let document { g_object_unref(UnsafeMutableRawPointer(document)) }
    }
  }

  /// The file that was opened last.
  private struct Last {
    let version: FileVersion
    let password: String?
    let file: OpenPDF
  }

  private static let last = Mutex<Last?>(nil)

  private let path: String
  private let password: String?
  private let handles = Mutex(Handles())

  private init(_ path: String, _ password: String?) {
    self.path = path
    self.password = password
  }

  /// Returns the file at a path; nil if it is no PDF by its content.
  static func of(_ path: String) -> OpenPDF? {
    guard let version = FileVersion(path) else { return nil }
    let password = PDFPassword.given
    let known = last.withLock { last in
      last.flatMap { $0.version == version && $0.password == password ? $0.file : nil }
    }
    if let known { return known }
    guard FileSignature(ofFileAt: path).holdsPDF else { return nil }
    let file = OpenPDF(path, password)
    last.withLock { $0 = Last(version: version, password: password, file: file) }
    return file
  }

  /// Closes the file that was opened last, once it is no longer in use.
  static func closeLast() { last.withLock { $0 = nil } }

  /// Calls `use` with poppler's document, with exclusive access; nil if it cannot be opened.
  func withDocument<Result>(_ use: (OpaquePointer) -> Result?) -> Result? {
    let given = passwordOfGLib()
    var result: Result?
    handles.withLock { handles in
      if handles.document == nil {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        pdf_note_flaws(1)
        // Takes the descriptor over.
        handles.document = poppler_document_new_from_fd(descriptor, given, nil)
        pdf_note_flaws(0)
      }
      if let document = handles.document { result = use(document) }
    }
    return result
  }

  /// Returns the password as poppler's interface of GLib wants it, which takes ISO 8859-1 for granted: of a password in
  /// UTF-8 a character for each byte.
  private func passwordOfGLib() -> String? {
    guard let password, withContent({ pdf_has_utf8_password($0) != 0 }) else { return password }
    return String(String.UnicodeScalarView(password.utf8.map { Unicode.Scalar($0) }))
  }

  /// Calls `use` with a document of `CPDFContent`.
  func withContent<Result>(_ use: (OpaquePointer) -> Result) -> Result {
    var result: Result?
    handles.withLock { handles in
      if handles.content == nil {
        pdf_note_flaws(1)
        handles.content = pdf_open(path, password)
        pdf_note_flaws(0)
      }
      // Never nil.
      result = use(handles.content!)
    }
    return result!
  }

  /// The first flaw of each kind that poppler met since they were last taken.
  struct Flaws {
    let file, page, beside: String?
  }

  /// Returns the flaws, and forgets them.
  static func takeFlaws() -> Flaws {
    let flaws = Flaws(
      file: flaw(PDF_FLAW_OF_FILE), page: flaw(PDF_FLAW_OF_PAGE), beside: flaw(PDF_FLAW_BESIDE_PAGES))
    // poppler repairs an open document in memory. Each page of a damaged file is read from the original file.
    if flaws.file != nil || flaws.page != nil || flaws.beside != nil { closeLast() }
    return flaws
  }

  private static func flaw(_ kind: some BinaryInteger) -> String? {
    var text = [CChar](repeating: 0, count: 300)
    guard pdf_take_flaw(Int32(kind), &text, Int32(text.count)) != 0 else { return nil }
    return PDFDocument.line(String(buffer: text), atMost: 200)
  }
}
