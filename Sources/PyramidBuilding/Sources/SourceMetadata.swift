import TileStorage
import ZigguratImaging
import ZigguratMetadata

extension ImageMetadata {
  /// Metadata of the file at a path, of whatever format.
  ///
  /// - Parameters:
  ///   - isPage: whether a page of several is meant: what a PDF says of itself is its book's.
  ///   - directory: the picture's directory in a TIFF, counted from 0, whose metadata is its own.
  init(ofSourceAt path: String, isPage: Bool, directory: Int = 0) {
    if Image.loader(ofPath: path) == "tiffload",
      let tiff = TIFFDirectories.remembered(path: path)?.directories,
      tiff.isBig || directory > 0
    {
      self.init(embeddedInTIFF: tiff.metadata(ofDirectory: directory))
      return
    }
    guard Image.loader(ofPath: path) == "pdfload", let document = PDFDocument(path: path) else {
      self.init(embeddedInFileAt: path)
      return
    }
    if isPage { self.init() } else { self.init(DocumentMetadata(document)) }
  }
}

extension DocumentMetadata {
  init(_ document: PDFDocument) {
    self.init()
    title = document.title
    author = document.author
    subject = document.subject
    keywords = document.keywords
    xmp = document.xmp
  }
}
