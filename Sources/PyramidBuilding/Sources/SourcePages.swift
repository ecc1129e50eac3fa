import Imaging
import Metadata

/// The pages of a source that are images of their own.
enum SourcePages {
  /// How many pages to build; 1 for a single image.
  ///
  /// Frames of an animation and the smaller copies in a pyramidal TIFF are not pages.
  static func count(path: String) throws(BuildError) -> Int {
    let first: Image
    do { first = try Image(path: path, access: .sequential) } catch {
      throw .unopened(path, error)
    }
    let pages = first.int("n-pages") ?? 1
    guard pages > 1, let loader = Image.loader(ofPath: path), ["tiffload", "pdfload"].contains(loader) else {
      return 1
    }
    if loader == "tiffload", let words = first.string("image-description"), isScanners(words) {
      throw BuildError(path, "is a scanner's slide that OpenSlide does not read; its label is no page")
    }
    // Channels, depth and moments are one picture's.
    do throws(ImagingError) {
      if try OMEStack.read(first, path: path, wanted: nil) != nil { return 1 }
    } catch { throw BuildError(path, error) }
    return loader == "tiffload" && isPyramid(path, first, pages) ? 1 : pages
  }

  /// What scanners of slides write into a TIFF that holds a label and the glass as a whole, too: pages of them would be
  /// published unasked.
  private static func isScanners(_ description: String) -> Bool {
    description.hasPrefix("Aperio")
      || ["DPUfsImport", "leica-microsystems.com/scn"].contains(where: description.contains)
  }

  /// What a PDF of several pages says of itself as a book; nil of any other source.
  static func book(path: String) -> BookDescription? {
    PDFDocument(path: path).map { document in
      var book = BookDescription()
      book.metadata.title = document.title
      book.metadata.creators = document.author.map { [$0] } ?? []
      book.chapters = document.outline.map {
        BookDescription.Chapter(title: $0.title, page: String($0.page), level: $0.depth)
      }
      return book
    }
  }

  /// Whether every page is half of the one before, within a pixel of rounding.
  private static func isPyramid(_ path: String, _ first: Image, _ pages: Int) -> Bool {
    var (width, height) = (first.width, first.height)
    for page in 1..<pages {
      // There is nothing smaller: whole directories of such pages are no pyramid.
      guard max(width, height) > 1, let next = try? Image(path: path, access: .sequential, page: page),
        abs(next.width - width / 2) <= 1, abs(next.height - height / 2) <= 1
      else { return false }
      (width, height) = (next.width, next.height)
    }
    return true
  }
}
