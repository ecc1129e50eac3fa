import CPoppler
import CVips
import Glibc
import Synchronization

/// The one picture of a PDF page that shows nothing else, as it lies upright on the page.
package struct PDFPicture: Hashable, Sendable {
  /// Pixels, of the picture as the page shows it.
  package let width, height: Int
  /// Pixels per inch, along the side that has more.
  package let resolution: Double
  /// Its place on the page, in units of the page's coordinates.
  fileprivate let left, top, across, down: Double

  /// Fails if the picture does not cover the page, or has other proportions than its place there.
  ///
  /// Programs round a page's sides to whole points: a picture may differ from them by as much.
  init?(_ image: PlacedImage, box: (width: Double, height: Double), unit: Double) {
    let matrix = image.matrix
    let isUpright = abs(matrix.b) < 0.01 && abs(matrix.c) < 0.01
    guard isUpright || (abs(matrix.a) < 0.01 && abs(matrix.d) < 0.01) else { return nil }
    (left, top) = (matrix.e + min(matrix.a + matrix.c, 0), matrix.f + min(matrix.b + matrix.d, 0))
    (across, down) = (abs(matrix.a + matrix.c), abs(matrix.b + matrix.d))
    let (columns, rows) = isUpright ? (image.columns, image.rows) : (image.rows, image.columns)
    let edges = [
      left, top, left + across - box.width, top + down - box.height,
      // Nothing is cut off but what lies beyond the page.
      image.left - max(left, 0), image.top - max(top, 0),
      image.right - min(left + across, box.width), image.bottom - min(top + down, box.height),
    ]
    guard edges.allSatisfy({ abs($0) <= 1 }),
      abs(columns * down - rows * across) <= (columns + rows) / 2
    else { return nil }
    (width, height) = (Int(columns), Int(rows))
    resolution = image.resolution / unit
  }
}

extension Image {
  /// Pixels that are drawn at once: for each part the page's picture is decoded again.
  private static let partSize = 1 << 24

  /// Draws the picture of a page with its own pixels, as RGB with alpha.
  ///
  /// libvips draws a page with one scale for both of its sides, which resamples a picture whose page is rounded to
  /// whole points.
  ///
  /// - Parameters:
  ///   - path: of the PDF.
  ///   - page: counted from 0.
  package convenience init(_ picture: PDFPicture, ofPDFAt path: String, page: Int) throws(ImagingError) {
    Vips.start()
    guard let painter = PDFPainter(picture, path, page) else {
      throw ImagingError("pdfload", path, message: PDFDocument.problem(path: path, page: page))
    }
    let drawn = vips_image_new()!
    let perMillimetre = picture.resolution / 25.4
    vips_image_init_fields(
      drawn, Int32(clamping: picture.width), Int32(clamping: picture.height), 4, VIPS_FORMAT_UCHAR,
      VIPS_CODING_NONE, VIPS_INTERPRETATION_sRGB, perMillimetre, perMillimetre)
    let reference = Unmanaged.passRetained(painter).toOpaque()
    let object = UnsafeMutableRawPointer(drawn).assumingMemoryBound(to: GObject.self)
    g_object_set_data_full(object, "ziggurat-pdf-painter", reference) {
      Unmanaged<PDFPainter>.fromOpaque($0!).release()
    }
    let source = Image(owning: drawn, subject: path)
    var inputs: [UnsafeMutablePointer<VipsImage>?] = [nil]
    guard vips_image_pipeline_array(drawn, VIPS_DEMAND_STYLE_FATSTRIP, &inputs) == 0,
      vips_image_generate(
        drawn, nil,
        { region, _, painter, _, _ in
          Unmanaged<PDFPainter>.fromOpaque(painter!).takeUnretainedValue().paint(region!) ? 0 : -1
        }, nil, reference, nil) == 0
    else { throw ImagingError.take("pdfload", path) }
    let cached = try Operation.run(
      "tilecache", path,
      [
        "in": .image(source), "tile-width": .int(picture.width),
        "tile-height": .int(min(picture.height, max(1, Self.partSize / picture.width))), "max-tiles": .int(2),
        "access": .name("sequential"), "threaded": .bool(true),
      ])
    self.init(owning: cached.retained(), subject: path)
  }
}

/// Draws parts of a page whose picture has a place of its own in pixels.
private final class PDFPainter: Sendable {
  private struct Page: ~Copyable, @unchecked Sendable {
    // Sendable: poppler's objects may be used by one thread at a time, which the mutex sees to.
    let document, page: OpaquePointer

    deinit {
      g_object_unref(UnsafeMutableRawPointer(page))
      g_object_unref(UnsafeMutableRawPointer(document))
    }
  }

  private let picture: PDFPicture
  private let page: Mutex<Page>

  /// Fails if the page cannot be read.
  init?(_ picture: PDFPicture, _ path: String, _ number: Int) {
    let opened = PDFDocument.with(path) { document -> (OpaquePointer, OpaquePointer)? in
      poppler_document_get_page(document, Int32(clamping: number)).map { page in
        g_object_ref(UnsafeMutableRawPointer(document))
        return (document, page)
      }
    }
    guard let opened else { return nil }
    self.picture = picture
    page = Mutex(Page(document: opened.0, page: opened.1))
  }

  /// Draws a region of RGB with alpha, on white; false if there is no memory for it.
  func paint(_ region: UnsafeMutablePointer<VipsRegion>) -> Bool {
    let area = region.pointee.valid
    guard let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, area.width, area.height) else {
      return false
    }
    defer { cairo_surface_destroy(surface) }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let cairo = cairo_create(surface) else {
      return false
    }
    defer { cairo_destroy(cairo) }
    cairo_set_source_rgb(cairo, 1, 1, 1)
    cairo_paint(cairo)
    cairo_translate(cairo, -Double(area.left), -Double(area.top))
    cairo_scale(cairo, Double(picture.width) / picture.across, Double(picture.height) / picture.down)
    cairo_translate(cairo, -picture.left, -picture.top)
    page.withLock { poppler_page_render($0.page, cairo) }
    cairo_surface_flush(surface)
    guard cairo_status(cairo) == CAIRO_STATUS_SUCCESS, let drawn = cairo_image_surface_get_data(surface)
    else {
      return false
    }
    let rowSize = Int(cairo_image_surface_get_stride(surface))
    for row in 0..<Int(area.height) {
      let from = UnsafeRawPointer(drawn + row * rowSize).assumingMemoryBound(to: UInt32.self)
      let to = region.pointee.data + row * Int(region.pointee.bpl)
      for column in 0..<Int(area.width) {
        let pixel = from[column]
        to[4 * column] = UInt8(truncatingIfNeeded: pixel >> 16)
        to[4 * column + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
        to[4 * column + 2] = UInt8(truncatingIfNeeded: pixel)
        to[4 * column + 3] = 255
      }
    }
    return true
  }
}
