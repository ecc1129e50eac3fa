import CVips

extension Image {
  /// How an image's rows are going to be read.
  package struct Access: Hashable, Sendable {
    let nick: String
    /// Top to bottom, once: only a few rows are held in memory.
    package static let sequential = Access(nick: "sequential")
    /// In any order; large images that cannot be read so are unpacked to a temporary file.
    package static let random = Access(nick: "random")
  }

  /// Opens a source by its content, whatever its name; damage that the loader notices is an error.
  ///
  /// - Parameter page: of a multi-page file, counted from 0; nil is the loader's own choice, the first.
  package convenience init(path: String, access: Access, page: Int? = nil) throws(ImagingError) {
    Vips.start()
    _ = VipsLog.take()
    guard let nick = Self.loader(ofPath: path) else {
      throw ImagingError("open", path, message: "is in no format that is read here")
    }
    var arguments: [(String, VipsValue)] = [
      ("filename", .string(path)), ("access", .name(access.nick)), ("fail-on", .name("truncated")),
    ]
    if let page { arguments.append(("page", .int(page))) }
    let operation = try Operation.run(nick, path, arguments)
    // A size that does not fit libvips' header is only warned of; the image would be another one.
    if let warning = VipsLog.takeBadProperty() {
      throw ImagingError(nick, path, message: "a value in its header is out of range: \(warning)")
    }
    self.init(owning: operation.retained(), subject: path)
  }

  /// An encoded image in memory, by the loader of its format and no other; damage is an error. Only the header is
  /// read yet: its size can be looked at before any pixel is decoded.
  ///
  /// - Parameter mediaType: of JPEG, PNG, WebP or AVIF.
  package convenience init(
    encoded bytes: UnsafeRawBufferPointer, mediaType: String, subject: String
  ) throws(ImagingError) {
    let loaders = [
      "image/jpeg": "jpegload_buffer", "image/png": "pngload_buffer", "image/webp": "webpload_buffer",
      "image/avif": "heifload_buffer",
    ]
    guard let loader = loaders[mediaType] else {
      throw ImagingError("decode", subject, message: "\(mediaType) is not decoded here")
    }
    try self.init(encoded: bytes, loader: loader, subject: subject)
  }

  /// The same by any of libvips' loaders of buffers.
  convenience init(
    encoded bytes: UnsafeRawBufferPointer, loader: String, subject: String
  ) throws(ImagingError) {
    Vips.start()
    _ = VipsLog.take()
    let image = try Operation.run(
      loader, subject, ["buffer": .blob(bytes), "access": .name("sequential"), "fail-on": .name("warning")])
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
  package convenience init(borrowing pixels: UnsafeRawBufferPointer, width: Int, height: Int, bands: Int) {
    precondition(pixels.count >= width * height * bands, "memory for every pixel")
    Vips.start()
    let image = vips_image_new_from_memory(
      pixels.baseAddress, width * height * bands, Int32(width), Int32(height), Int32(bands), VIPS_FORMAT_UCHAR
    )!
    image.pointee.Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    self.init(owning: image, subject: "pixels")
  }

  /// An image of 8-bit sRGB, gray or either with alpha, of pixels that are copied.
  package convenience init(
    copying pixels: UnsafePointer<UInt8>, width: Int, height: Int, bands: Int, stride: Int
  ) {
    Vips.start()
    var packed = [UInt8]()
    packed.reserveCapacity(width * height * bands)
    for row in 0..<height {
      packed.append(contentsOf: UnsafeBufferPointer(start: pixels + row * stride, count: width * bands))
    }
    let image = vips_image_new_from_memory_copy(
      packed, packed.count, Int32(width), Int32(height), Int32(bands), VIPS_FORMAT_UCHAR)!
    image.pointee.Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
    self.init(owning: image, subject: "pixels")
  }
}
