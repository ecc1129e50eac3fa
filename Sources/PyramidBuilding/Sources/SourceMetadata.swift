import TileStorage
import ZigguratImaging
import ZigguratMetadata

extension ImageMetadata {
  /// Reads the metadata of the file at a path, in any format.
  ///
  /// - Parameters:
  ///   - isPage: whether it is for one of several pages: the metadata of a PDF belongs to its book.
  ///   - directory: the directory of the picture in a TIFF, counted from 0, which has its own metadata.
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
