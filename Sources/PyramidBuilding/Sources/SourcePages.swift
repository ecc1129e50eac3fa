import Imaging

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
    return loader == "tiffload" && isPyramid(path, first, pages) ? 1 : pages
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
