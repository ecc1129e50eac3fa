import CPoppler
import Glibc

/// What a page of a PDF consists of, found without drawing it.
package enum PDFPage {
  /// Of the page that a picture covers so much at least, the picture is the page: a scan, perhaps with its margins.
  private static let covering = 0.8
  /// Pixels per inch. Under words, what is coarser is a background, and no scan of them.
  private static let leastOfScans = 150.0

  /// Pixels per inch of the picture that a page consists of, so that the page drawn with as many has the picture's own
  /// pixels; of several such pictures, the finest's. Nil where it consists of more than pictures, or cannot be read.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - page: counted from 0.
  package static func resolution(path: String, page: Int) -> Double? {
    with(path, page: page) { page -> Double? in
      guard let finest = pictures(page).max(), finest.isFinite, finest > 0 else { return nil }
      return hasWords(page) && finest < leastOfScans ? nil : finest
    }
  }

  /// What the document calls a page, as roman numerals of a preface: one line of at most 100 characters. Nil where that
  /// is its number, or the file is no PDF.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - number: of the page, counted from 0.
  package static func label(path: String, page number: Int) -> String? {
    with(path, page: number) { page -> String? in
      guard let label = poppler_page_get_label(page) else { return nil }
      defer { g_free(label) }
      let line = PDFDocument.line(String(cString: label), atMost: 100)
      return line == String(number + 1) ? nil : line
    }
  }

  private static func with<Result>(
    _ path: String, page: Int, _ use: (OpaquePointer) -> Result?
  ) -> Result? {
    PDFDocument.with(path) { document -> Result? in
      guard let page = poppler_document_get_page(document, Int32(clamping: page)) else { return nil }
      defer { g_object_unref(UnsafeMutableRawPointer(page)) }
      return use(page)
    }
  }

  /// Pixels per inch of each picture that covers the page.
  private static func pictures(_ page: OpaquePointer) -> [Double] {
    var (width, height) = (0.0, 0.0)
    poppler_page_get_size(page, &width, &height)
    let list = poppler_page_get_image_mapping(page)
    defer { poppler_page_free_image_mapping(list) }
    var found: [Double] = []
    var link = list
    while let each = link {
      link = each.pointee.next
      let mapping = each.pointee.data.assumingMemoryBound(to: PopplerImageMapping.self).pointee
      // Along the picture's own sides, however it is turned.
      // Poppler tells whole points: what is as long as the page but for that is as long, and its pixels stay whole.
      func side(_ from: Double, _ to: Double) -> Double {
        [width, height].first { abs(abs(to - from) - $0) < 1 } ?? abs(to - from)
      }
      let across = side(mapping.area.x1, mapping.area.x2)
      let down = side(mapping.area.y1, mapping.area.y2)
      func covered(_ across: Double, _ down: Double) -> Double { min(across, width) * min(down, height) }
      guard across > 0, down > 0,
        max(covered(across, down), covered(down, across)) >= covering * width * height,
        let surface = poppler_page_get_image(page, mapping.image_id)
      else { continue }
      defer { cairo_surface_destroy(surface) }
      let columns = Double(cairo_image_surface_get_width(surface))
      let rows = Double(cairo_image_surface_get_height(surface))
      found.append(72 * max(columns / across, rows / down))
    }
    return found
  }

  private static func hasWords(_ page: OpaquePointer) -> Bool {
    guard let text = poppler_page_get_text(page) else { return false }
    defer { g_free(text) }
    return strspn(text, " \n\r\t\u{c}") < strlen(text)
  }
}
