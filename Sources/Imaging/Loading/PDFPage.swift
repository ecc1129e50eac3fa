import Glibc
import ZigguratCPDFContent
import ZigguratCPoppler

/// The content of a PDF page, as far as its resolution depends on it.
package struct PDFPage {
  /// The resolution at which a page becomes pixels.
  package enum Resolution: Hashable, Sendable {
    /// The page is one picture, with these pixels.
    case exact(PDFPicture)
    /// The finest picture of a page whose pictures cover it, in pixels per inch.
    case finest(Double)
    /// The page is a drawing, or its pictures are too coarse for its vector content.
    case usual
  }

  /// The resolution for vector content, in pixels per inch.
  package static let usualResolution = 300.0
  /// The minimum part of a page that pictures cover if the page is a scan, perhaps with margins.
  private static let covering = 0.8
  /// The minimum part of a page that pictures of equal resolution cover for that resolution to count.
  private static let counting = 0.02
  /// The maximum resolution in pixels per inch for a picture on a scan, and on any other page. A photograph of 24
  /// megapixels may be placed very small.
  private static let (greatestOfScan, greatestOfPage) = (1200.0, 600.0)

  /// The maximum side in pixels of a picture that poppler draws by cairo. It leaves the area of a larger one blank, at
  /// any resolution, and reports nothing.
  package static let maxDimension = 32_766

  /// Points per unit of the page's coordinates.
  package let userUnit: Double
  package let resolution: Resolution
  /// The size in pixels of a picture that is too large to be drawn; nil if there is none.
  package let undrawn: (columns: Int, rows: Int)?

  /// Reads a page. Returns nil if the file is not a readable PDF.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - page: the page, counted from 0.
  package init?(path: String, page: Int) {
    var content = pdf_content()
    var result: Int32 = -1
    let images = [pdf_image](unsafeUninitializedCapacity: PDF_MOST_IMAGES) { images, count in
      result =
        OpenPDF.of(path)?.withContent {
          pdf_read_content($0, Int32(clamping: page + 1), &content, images.baseAddress)
        } ?? -1
      count = Int(content.image_count)
    }
    guard result == Int32(PDF_IS_READABLE) else { return nil }
    userUnit = content.user_unit
    undrawn = images.first { max($0.columns, $0.rows) > Self.maxDimension }
      .map { (Int($0.columns), Int($0.rows)) }
    let box = (width: content.width, height: content.height)
    let hasVectors = content.has_vectors != 0 || content.is_cut != 0
    resolution = Self.resolution(
      of: images.map(PlacedImage.init), box: box, unit: userUnit, hasVectors: hasVectors)
  }

  private static func resolution(
    of images: [PlacedImage], box: (width: Double, height: Double), unit: Double, hasVectors: Bool
  ) -> Resolution {
    if !hasVectors, images.count == 1, let picture = PDFPicture(images[0], box: box, unit: unit) {
      return .exact(picture)
    }
    let isScan = PageCoverage(of: images[...], box).part >= covering
    let finest = finest(of: images, box, atMost: unit * (isScan ? greatestOfScan : greatestOfPage)) / unit
    let least = isScan && !hasVectors ? 0 : usualResolution
    return finest > least && (isScan || !hasVectors) ? .finest(finest) : .usual
  }

  /// Returns the pixels for each 72nd of the finest images that count; 0 if none does.
  private static func finest(
    of images: [PlacedImage], _ box: (width: Double, height: Double), atMost most: Double
  ) -> Double {
    var rest = images.sorted { $0.resolution > $1.resolution }[...]
    while let first = rest.first {
      // The resolution of an image without an area is 0.
      let equal = rest.prefix { $0.resolution >= first.resolution * 0.98 }
      let part = PageCoverage(of: equal, box).part
      if part >= covering { return first.resolution }
      if part >= counting { return min(first.resolution, most) }
      rest = rest.dropFirst(equal.count)
    }
    return 0
  }

  /// Returns the document's label of a page, for example a roman numeral in a preface: one line of at most 100
  /// characters. Returns nil if the label is the page's number, or the file is not a PDF.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - number: the page, counted from 0.
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
}

/// An image and its place on a page, whose y points down.
struct PlacedImage {
  /// The pixels of the image or of its mask, whichever has more.
  let columns, rows: Double
  /// The transformation from the image's unit square to the page (ISO 32000-1, section 8.3.4).
  let matrix: (a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)
  /// The part that remains after clipping.
  let left, top, right, bottom: Double

  init(_ image: pdf_image) {
    columns = Double(image.columns)
    rows = Double(image.rows)
    left = image.left
    top = image.top
    right = image.right
    bottom = image.bottom
    let matrix = image.matrix
    self.matrix = (matrix.0, matrix.1, matrix.2, matrix.3, matrix.4, matrix.5)
  }

  /// The lengths of the image's sides on the page.
  var across: Double { hypot(matrix.a, matrix.b) }
  var down: Double { hypot(matrix.c, matrix.d) }

  /// Pixels for each 72 units of the page, along the denser side.
  var resolution: Double {
    let finest = 72 * max(columns / across, rows / down)
    return finest.isFinite ? finest : 0
  }

  /// Whether a point of the page lies on the image.
  func holds(_ x: Double, _ y: Double) -> Bool {
    let (dx, dy) = (x - matrix.e, y - matrix.f)
    let area = matrix.a * matrix.d - matrix.b * matrix.c
    return 0...1 ~= (matrix.d * dx - matrix.c * dy) / area && 0...1 ~= (matrix.a * dy - matrix.b * dx) / area
  }
}

/// The part of a page that images cover, sampled at a grid of points.
private struct PageCoverage {
  private static let side = 64
  private var covered = [Bool](repeating: false, count: side * side)

  /// The covered part, 0 to 1.
  var part: Double { Double(covered.count { $0 }) / Double(covered.count) }

  init(of images: ArraySlice<PlacedImage>, _ box: (width: Double, height: Double)) {
    let (stepX, stepY) = (box.width / Double(Self.side), box.height / Double(Self.side))
    guard stepX > 0, stepY > 0 else { return }
    /// Returns the points between two positions, half a step from the edges.
    func points(_ from: Double, _ to: Double, _ step: Double) -> Range<Int> {
      let first = max(0, (from / step - 0.5).rounded(.up))
      let end = min(Double(Self.side), (to / step + 0.5).rounded(.down))
      return first < end ? Int(first)..<Int(end) : 0..<0
    }
    for image in images {
      for row in points(image.top, image.bottom, stepY) {
        for column in points(image.left, image.right, stepX)
        where image.holds((Double(column) + 0.5) * stepX, (Double(row) + 0.5) * stepY) {
          covered[row * Self.side + column] = true
        }
      }
    }
  }
}
