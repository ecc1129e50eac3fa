import Synchronization
// The compiler finds the names of cairo in the first module alone that has them.
import ZigguratCPoppler
import ZigguratCRSVG

/// An SVG picture, drawn by librsvg with 96 pixels per inch.
///
/// libvips 8.14 draws with 72; its option `dpi` only enlarges the result. Lengths in inches, millimetres and points
/// would be three quarters of those in browsers, relative to lengths in pixels.
final class SVGDrawing: PixelSupply {
  private struct Handle: ~Copyable, @unchecked Sendable {
    // Sendable: librsvg's handle may be used by one thread at a time, which the mutex sees to.
    let pointer: UnsafeMutablePointer<RsvgHandle>

    deinit { g_object_unref(pointer) }
  }

  /// Pixels of CSS to the inch (CSS Values and Units 3, section 6.2).
  private static let resolution = 96.0
  /// The side in pixels of a part that is drawn at once. Each part processes the drawing from its first element.
  private static let drawnSide = 2000

  private let path: String
  private let width, height: Int
  private let handle: Mutex<Handle>

  /// `nil` if librsvg does not read the file, or the drawing says neither its size nor its proportions.
  ///
  /// - Parameter scale: pixels for each pixel of CSS.
  init?(path: String, scale: Double) {
    guard let file = g_file_new_for_path(path) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(file)) }
    guard let pointer = rsvg_handle_new_from_gfile_sync(file, RSVG_HANDLE_FLAGS_NONE, nil, nil) else {
      return nil
    }
    let handle = Handle(pointer: pointer)
    rsvg_handle_set_dpi(pointer, Self.resolution)
    guard let size = Self.size(of: pointer) else { return nil }
    let (width, height) = ((size.width * scale).rounded(), (size.height * scale).rounded())
    guard 1...Double(Image.maxDimension) ~= width, 1...Double(Image.maxDimension) ~= height else {
      return nil
    }
    self.path = path
    self.width = Int(width)
    self.height = Int(height)
    self.handle = Mutex(handle)
  }

  /// Returns the size in the root element; nil if it has none. A missing side follows from the other side and the
  /// proportions of `viewBox`, or is the size of `viewBox`. Browsers have no size for such a drawing, and use 300 × 150
  /// pixels.
  private static func size(of handle: UnsafeMutablePointer<RsvgHandle>) -> (width: Double, height: Double)? {
    var (width, height) = (0.0, 0.0)
    if rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height) != 0 {
      return width > 0.5 && height > 0.5 ? (width, height) : nil
    }
    var (hasWidth, hasHeight, hasBox): (gboolean, gboolean, gboolean) = (0, 0, 0)
    var (across, down, box) = (RsvgLength(), RsvgLength(), RsvgRectangle())
    rsvg_handle_get_intrinsic_dimensions(handle, &hasWidth, &across, &hasHeight, &down, &hasBox, &box)
    guard hasBox != 0, box.width > 0, box.height > 0 else { return nil }
    width = pixels(across)
    height = pixels(down)
    if width <= 0.5 { width = height > 0.5 ? height * box.width / box.height : box.width }
    if height <= 0.5 { height = width * box.height / box.width }
    return width > 0.5 && height > 0.5 ? (width, height) : nil
  }

  /// Returns a length; 0 if it depends on the place where the drawing is shown.
  private static func pixels(_ length: RsvgLength) -> Double {
    switch length.unit {
    case RSVG_UNIT_PX: length.length
    case RSVG_UNIT_IN: length.length * resolution
    case RSVG_UNIT_CM: length.length * resolution / 2.54
    case RSVG_UNIT_MM: length.length * resolution / 25.4
    case RSVG_UNIT_PT: length.length * resolution / 72
    case RSVG_UNIT_PC: length.length * resolution / 6
    // librsvg's font of 12 pixels, as for a drawing with both sides.
    case RSVG_UNIT_EM: length.length * 12
    case RSVG_UNIT_EX: length.length * 6
    default: 0
    }
  }

  /// Returns the drawing as an image.
  func image() throws(ImagingError) -> Image {
    let header = GeneratedHeader(
      width: width, height: height, bands: 4, sampleType: .byte, interpretation: "srgb")
    let drawn = try Image(header, fields: nil, subject: path, from: self)
    drawn.setString("vips-loader", "svgload")
    // Two rows of parts: a request for pixels may overlap two of them.
    return try Operation.run(
      "tilecache", path,
      [
        "in": .image(drawn), "tile-width": .int(Self.drawnSide), "tile-height": .int(Self.drawnSide),
        "max-tiles": .int(2 * (1 + width / Self.drawnSide)),
      ])
  }

  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    for row in 0..<height {
      (base + row * stride).initializeMemory(as: UInt8.self, repeating: 0, count: 4 * width)
    }
    let isDrawn = handle.withLock { handle in
      guard
        let surface = cairo_image_surface_create_for_data(
          base.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(width), Int32(height),
          Int32(stride))
      else { return false }
      defer { cairo_surface_destroy(surface) }
      guard let context = cairo_create(surface) else { return false }
      defer { cairo_destroy(context) }
      cairo_translate(context, -Double(x), -Double(y))
      var viewport = RsvgRectangle(x: 0, y: 0, width: Double(self.width), height: Double(self.height))
      guard rsvg_handle_render_document(handle.pointer, context, &viewport, nil) != 0 else { return false }
      cairo_surface_flush(surface)
      return true
    }
    guard isDrawn else { throw ImagingError("read", path, message: "the SVG cannot be drawn") }
    for row in 0..<height {
      Self.unpack((base + row * stride).assumingMemoryBound(to: UInt32.self), count: width)
    }
  }

  /// Turns cairo's pixels, numbers of alpha, red, green and blue from the highest byte down with colours that are
  /// multiplied by alpha, into red, green, blue and alpha as libvips has them.
  private static func unpack(_ pixels: UnsafeMutablePointer<UInt32>, count: Int) {
    for at in 0..<count {
      let pixel = pixels[at]
      let alpha = pixel >> 24
      var (red, green, blue) = (pixel >> 16 & 0xff, pixel >> 8 & 0xff, pixel & 0xff)
      if alpha != 0, alpha != 255 {
        red = 255 * red / alpha
        green = 255 * green / alpha
        blue = 255 * blue / alpha
      }
      pixels[at] = (red | green << 8 | blue << 16 | alpha << 24).littleEndian
    }
  }
}
