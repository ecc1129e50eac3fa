import Imaging
import Metadata
import TileStorage

extension ImageMetadata {
  /// Metadata of the file at a path, of whatever format.
  ///
  /// - Parameter isPage: whether a page of several is meant: what a PDF says of itself is its book's.
  init(ofSourceAt path: String, isPage: Bool) {
    guard Image.loader(ofPath: path) == "pdfload", let document = PDFDocument(path: path) else {
      self.init(embeddedInFileAt: path)
      return
    }
    if isPage { self.init() } else { self.init(DocumentWords(document)) }
  }
}

extension DocumentWords {
  init(_ document: PDFDocument) {
    self.init()
    (title, author, subject) = (document.title, document.author, document.subject)
    (keywords, xmp) = (document.keywords, document.xmp)
  }
}
