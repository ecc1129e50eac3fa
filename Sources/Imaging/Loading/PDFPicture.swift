import Glibc
import Synchronization
import ZigguratCPoppler
import ZigguratCVips

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
    left = matrix.e + min(matrix.a + matrix.c, 0)
    top = matrix.f + min(matrix.b + matrix.d, 0)
    across = abs(matrix.a + matrix.c)
    down = abs(matrix.b + matrix.d)
    let (columns, rows) = isUpright ? (image.columns, image.rows) : (image.rows, image.columns)
    let edges = [
      left, top, left + across - box.width, top + down - box.height,
      // Only parts outside of the page are cut off.
      image.left - max(left, 0), image.top - max(top, 0),
      image.right - min(left + across, box.width), image.bottom - min(top + down, box.height),
    ]
    guard edges.allSatisfy({ abs($0) <= 1 }),
      abs(columns * down - rows * across) <= (columns + rows) / 2
    else { return nil }
    width = Int(columns)
    height = Int(rows)
    resolution = image.resolution / unit
  }
}

extension Image {
  /// Draws the picture of a page with its own pixels, as RGB with alpha.
  ///
  /// One scale for both sides of a page would resample a picture whose page is rounded to whole points.
  ///
  /// - Parameters:
  ///   - path: of the PDF.
  ///   - page: counted from 0.
  package convenience init(_ picture: PDFPicture, ofPDFAt path: String, page: Int) throws(ImagingError) {
    try self.init(.picture(picture), path, page)
  }

  /// Draws a page as RGB with alpha, as libvips does, which opens the file again for each page.
  ///
  /// - Parameters:
  ///   - path: of the PDF.
  ///   - page: counted from 0.
  ///   - scale: pixels for each unit of the page.
  convenience init(pdfAt path: String, page: Int, scale: Double) throws(ImagingError) {
    try self.init(.scale(scale), path, page)
  }

  private convenience init(
    _ drawing: PDFPainter.Drawing, _ path: String, _ page: Int
  ) throws(ImagingError) {
    Vips.start()
    guard let painter = PDFPainter(drawing, path, page) else {
      throw ImagingError("pdfload", path, message: PDFDocument.problem(path: path, page: page))
    }
    let sides = 1...Int(VIPS_MAX_COORD)
    guard sides ~= painter.width, sides ~= painter.height else {
      throw ImagingError(
        "pdfload", path,
        message: "the page is \(painter.width)×\(painter.height) pixels large; --dpi chooses another size")
    }
    let parts = painter.parts
    var header = GeneratedHeader(
      width: painter.width, height: painter.height, bands: 4, sampleType: .byte, interpretation: "srgb")
    header.style = parts.style
    let drawn = try Image(header, fields: nil, subject: path, from: painter)
    let perMillimetre = painter.resolution / 25.4
    drawn.setPixelsPerMillimetre(x: perMillimetre, y: perMillimetre)
    drawn.setString("vips-loader", "pdfload")
    drawn.setInt("n-pages", painter.pageCount)
    let cached = try Operation.run(
      "tilecache", path,
      [
        "in": .image(drawn), "tile-width": .int(parts.width), "tile-height": .int(parts.height),
        "max-tiles": .int(parts.count), "access": .name(parts.access), "threaded": .bool(parts.isThreaded),
      ])
    self.init(owning: cached.retained(), subject: path)
  }
}

/// Draws parts of a page.
private final class PDFPainter: PixelSupply {
  /// The way from the page to pixels.
  enum Drawing {
    /// The page's one picture gets its own pixels.
    case picture(PDFPicture)
    /// Pixels for each unit of the page.
    case scale(Double)
  }

  /// The parts that are drawn at once, in pixels, and how many are kept: for each the page's pictures are decoded
  /// again.
  struct Parts {
    let width, height, count: Int
    let style: VipsDemandStyle
    let access: String
    let isThreaded: Bool
  }

  private struct Page: ~Copyable, @unchecked Sendable {
    // Sendable: it is used under its document's lock only.
    let page: OpaquePointer

    deinit { g_object_unref(UnsafeMutableRawPointer(page)) }

    func render(_ cairo: OpaquePointer) { poppler_page_render(page, cairo) }
  }

  private let drawing: Drawing
  private let path: String
  private let file: OpenPDF
  private let page: Mutex<Page?>
  /// Pixels.
  let width, height: Int
  /// The number of pages of the document.
  let pageCount: Int

  /// Fails if the page cannot be read.
  init?(_ drawing: Drawing, _ path: String, _ number: Int) {
    guard let file = OpenPDF.of(path) else { return nil }
    var size = (width: 0.0, height: 0.0)
    let opened = file.withDocument { document -> (OpaquePointer, Int)? in
      guard let page = poppler_document_get_page(document, Int32(clamping: number)) else { return nil }
      poppler_page_get_size(page, &size.width, &size.height)
      return (page, Int(poppler_document_get_n_pages(document)))
    }
    guard let opened else { return nil }
    self.drawing = drawing
    self.path = path
    self.file = file
    pageCount = opened.1
    page = Mutex(Page(page: opened.0))
    switch drawing {
    case .picture(let picture): (width, height) = (picture.width, picture.height)
    case .scale(let scale):
      func pixels(_ side: Double) -> Int {
        Int(exactly: (side * (scale * 72 / 72)).rounded(.toNearestOrEven)) ?? 0
      }
      width = pixels(size.width)
      height = pixels(size.height)
    }
  }

  deinit {
    // With the lock, since other threads may use the document.
    _ = file.withDocument { _ -> Void? in page.withLock { $0 = nil } }
  }

  /// Pixels per inch of the page, or, of one with a scale, units.
  var resolution: Double {
    switch drawing {
    case .picture(let picture): picture.resolution
    case .scale: 72
    }
  }

  var parts: Parts {
    switch drawing {
    case .picture:
      Parts(
        width: width, height: min(height, max(1, (1 << 24) / width)), count: 2,
        style: VIPS_DEMAND_STYLE_FATSTRIP, access: "sequential", isThreaded: true)
    case .scale:
      // As libvips has them: a page's antialiasing may depend on it.
      Parts(
        width: 4000, height: 4000, count: 2 * (1 + width / 4000), style: VIPS_DEMAND_STYLE_SMALLTILE,
        access: "random", isThreaded: false)
    }
  }

  /// Draws an area of RGB with alpha, on white.
  ///
  /// - Throws: if there is no memory for it.
  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    let undrawn = ImagingError("read", path, message: "there is no memory to draw the page")
    guard let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height)) else {
      throw undrawn
    }
    defer { cairo_surface_destroy(surface) }
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS, let cairo = cairo_create(surface) else {
      throw undrawn
    }
    defer { cairo_destroy(cairo) }
    cairo_set_source_rgb(cairo, 1, 1, 1)
    cairo_paint(cairo)
    switch drawing {
    case .picture(let picture):
      cairo_translate(cairo, -Double(x), -Double(y))
      cairo_scale(cairo, Double(picture.width) / picture.across, Double(picture.height) / picture.down)
      cairo_translate(cairo, -picture.left, -picture.top)
    case .scale(let scale):
      let scale = scale * 72 / 72
      cairo_scale(cairo, scale, scale)
      cairo_translate(cairo, -Double(x) / scale, -Double(y) / scale)
    }
    _ = file.withDocument { _ in page.withLock { $0?.render(cairo) } }
    cairo_surface_flush(surface)
    guard cairo_status(cairo) == CAIRO_STATUS_SUCCESS, let drawn = cairo_image_surface_get_data(surface)
    else { throw undrawn }
    let rowSize = Int(cairo_image_surface_get_stride(surface))
    for row in 0..<height {
      let from = UnsafeRawPointer(drawn + row * rowSize).assumingMemoryBound(to: UInt32.self)
      let to = (base + row * stride).assumingMemoryBound(to: UInt8.self)
      for column in 0..<width {
        let pixel = from[column]
        to[4 * column] = UInt8(truncatingIfNeeded: pixel >> 16)
        to[4 * column + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
        to[4 * column + 2] = UInt8(truncatingIfNeeded: pixel)
        // The background is opaque white.
        to[4 * column + 3] = 255
      }
    }
  }
}
