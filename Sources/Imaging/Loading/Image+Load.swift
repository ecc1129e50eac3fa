import ZigguratCVips

extension Image {
  /// The order in which an image's rows are going to be read.
  package struct Access: Hashable, Sendable {
    let nick: String
    /// Top to bottom, once: only a few rows are held in memory.
    package static let sequential = Access(nick: "sequential")
    /// In any order; large images that cannot be read so are unpacked to a temporary file.
    package static let random = Access(nick: "random")
  }

  /// Opens a source by its content, whatever its name. Damage that leaves some of its pixels is no error, but see
  /// `DecoderWarnings`; of a PNG it is, since libvips leaves rows that it cannot decode as they were in memory.
  ///
  /// - Parameters:
  ///   - page: of a multi-page file, counted from 0; nil is the loader's own choice, the first.
  ///   - isDamaged: go on however often a decoder warns.
  ///   - scale: how large a PDF or SVG is drawn: pixels for each 72nd of an inch, or for each pixel of CSS.
  package convenience init(
    path: String, access: Access, page: Int? = nil, scale: Double? = nil, isDamaged: Bool = false
  ) throws(ImagingError) {
    Vips.start()
    _ = VipsLog.take()
    vips_error_clear()
    guard let nick = Self.loader(ofPath: path) else {
      throw ImagingError(opening: path, FileSignature(ofFileAt: path).refusal)
    }
    if nick == "pdfload" {
      let page = try Image(pdfAt: path, page: page ?? 0, scale: scale ?? 1)
      self.init(owning: page.retained(), subject: path)
      return
    }
    if nick == "svgload", let drawing = SVGDrawing(path: path, scale: scale ?? 1) {
      self.init(owning: try drawing.image().retained(), subject: path)
      return
    }
    var arguments: [(String, VipsValue)] = [
      ("filename", .string(path)), ("access", .name(access.nick)),
      ("fail-on", .name(nick == "pngload" ? "truncated" : "none")),
    ]
    if isDamaged, nick == "jpegload" { arguments.append(("unlimited", .bool(true))) }
    if let page { arguments.append(("page", .int(page))) }
    if let scale { arguments.append(("scale", .double(scale))) }
    let operation = try Operation.run(nick, path, arguments)
    // A size that does not fit libvips' header is only warned of; the image would be another one.
    if let warning = VipsLog.takeBadProperty() {
      throw ImagingError(nick, path, message: "a value in its header is out of range: \(warning)")
    }
    self.init(owning: operation.retained(), subject: path)
  }

  /// An encoded image in memory, by any of libvips' loaders of buffers; damage is an error.
  convenience init(
    encoded bytes: UnsafeRawBufferPointer, loader: String, subject: String, access: Access = .sequential
  ) throws(ImagingError) {
    Vips.start()
    _ = VipsLog.take()
    let image = try Operation.run(
      loader, subject, ["buffer": .blob(bytes), "access": .name(access.nick), "fail-on": .name("warning")])
    self.init(owning: image.retained(), subject: subject)
  }

  /// The loader that libvips would use for the source (`jpegload`), or nil where it knows none or may not use it.
  package static func loader(ofPath path: String) -> String? {
    Vips.start()
    guard let name = ImageLoaders.find(forSourceAt: path) else {
      vips_error_clear()
      return nil
    }
    // The loader is known by its type name, the operation by its short one.
    return vips_nickname_find(g_type_from_name(name)).map { String(cString: $0) } ?? name
  }

  func retained() -> UnsafeMutablePointer<VipsImage> {
    g_object_ref(pointer)
    return pointer
  }
}

extension Image {
  /// An image of 8-bit sRGB, gray or either with alpha, of pixels that stay where they are, rows without gaps:
  /// the memory must outlive this image and all that is made from it.
  package convenience init(
    borrowing pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: PixelBands
  ) {
    precondition(pixels.count >= width * height * bands.count, "memory for every pixel")
    Vips.start()
    let image = vips_image_new_from_memory(
      pixels.baseAddress, width * height * bands.count, Int32(width), Int32(height), Int32(bands.count),
      VIPS_FORMAT_UCHAR)!
    self.init(owning: image, of: bands, subject: "pixels")
  }

  /// An image of 8-bit sRGB, gray or either with alpha, of pixels that are copied.
  package convenience init(
    copying pixels: UnsafePointer<UInt8>, width: Int, height: Int, bands: PixelBands, stride: Int
  ) {
    let rowSize = width * bands.count
    var packed = [UInt8]()
    packed.reserveCapacity(height * rowSize)
    for row in 0..<height {
      packed.append(contentsOf: UnsafeBufferPointer(start: pixels + row * stride, count: rowSize))
    }
    self.init(copying: packed, width: width, height: height, bands: bands)
  }

  /// The same of rows without gaps.
  convenience init(
    copying pixels: [UInt8], width: Int, height: Int, bands: PixelBands, subject: String = "pixels"
  ) {
    precondition(pixels.count == width * height * bands.count, "every pixel")
    Vips.start()
    let image = vips_image_new_from_memory_copy(
      pixels, pixels.count, Int32(width), Int32(height), Int32(bands.count), VIPS_FORMAT_UCHAR)!
    self.init(owning: image, of: bands, subject: subject)
  }

  /// Takes over the caller's reference to an image that is not shared.
  private convenience init(
    owning image: UnsafeMutablePointer<VipsImage>, of bands: PixelBands, subject: String
  ) {
    image.pointee.Type = bands.isGray ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    self.init(owning: image, subject: subject)
  }
}

extension Image {
  /// Opens a PNG file in memory, read from top to bottom. libvips also supports any order, because it keeps rows that
  /// it has read.
  package convenience init(pngBytes: [UInt8], subject: String) throws(ImagingError) {
    let image = try pngBytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      try Image(
        encoded: UnsafeRawBufferPointer(bytes), loader: "pngload_buffer", subject: subject, access: .random)
    }
    self.init(owning: image.retained(), subject: subject)
  }
}
