extension Image {
  /// As 8-bit gray, gray with alpha, RGB or RGBA, whatever the image was.
  package func asBytesOfColor() throws(ImagingError) -> Image {
    let isGray = bands < 3
    var image = self
    if !isGray, image.interpretation != "srgb" { image = try image.converted(to: "srgb") }
    if isGray, image.interpretation != "b-w" { image = try image.converted(to: "b-w") }
    if !image.isBytes { image = try image.castToBytes() }
    return image.bands > 4 ? try image.bands(from: 0, count: 4) : image
  }

  /// Scaled to exactly this size, with Lanczos' kernel where it shrinks and bicubic where it grows.
  package func resized(width newWidth: Int, height newHeight: Int) throws(ImagingError) -> Image {
    let scaled = try onPremultiplied { (image) throws(ImagingError) in
      try Operation.run(
        "resize", subject,
        [
          "in": .image(image), "scale": .double(Double(newWidth) / Double(width)),
          "vscale": .double(Double(newHeight) / Double(height)), "kernel": .name("lanczos3"),
        ])
    }
    if scaled.width == newWidth, scaled.height == newHeight { return scaled }
    // Rounding inside libvips may be off by one: the edge is cut or repeated.
    return try Operation.run(
      "embed", subject,
      [
        "in": .image(scaled), "x": .int(0), "y": .int(0), "width": .int(newWidth), "height": .int(newHeight),
        "extend": .name("copy"),
      ])
  }

  /// Returns the result of `work` on colours multiplied by alpha, since transparent pixels must not tint their
  /// neighbours.
  private func onPremultiplied(
    _ work: (Image) throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    guard hasAlpha else { return try work(self) }
    let done = try work(try Operation.run("premultiply", subject, ["in": .image(self)]))
    return try Operation.run("unpremultiply", subject, ["in": .image(done)]).castToBytes()
  }

  /// Mirrored left to right.
  package func mirrored() throws(ImagingError) -> Image {
    try Operation.run("flip", subject, ["in": .image(self), "direction": .name("horizontal")])
  }

  /// Turned clockwise by any angle into the box around it; corners are transparent, so there is alpha
  /// unless the angle is a multiple of 90.
  package func turned(degrees: Double) throws(ImagingError) -> Image {
    switch degrees {
    case 0: return self
    case 90, 180, 270:
      return try Operation.run(
        "rot", subject, ["in": .image(self), "angle": .name("d\(Int(degrees))")])
    default:
      let image = try withAlpha()
      return try Operation.run(
        "rotate", subject,
        ["in": .image(image), "angle": .double(degrees), "background": .doubles(image.clear)])
    }
  }

  /// Maps pixels at (x, y) to matrix · (x, y) + offset. Outside of the image, the result is transparent if there is
  /// alpha, otherwise the image's edge is extended.
  ///
  /// - Parameters:
  ///   - matrix: a, b, c, d: x' = a·x + b·y, y' = c·x + d·y.
  ///   - offset: added afterwards. A pixel's middle is at half of one.
  package func mapped(
    matrix: (Double, Double, Double, Double), offset: (x: Double, y: Double), width: Int, height: Int
  ) throws(ImagingError) -> Image {
    // libvips counts from the middle of a pixel.
    try Operation.run(
      "affine", subject,
      [
        "in": .image(self), "matrix": .doubles([matrix.0, matrix.1, matrix.2, matrix.3]),
        "idx": .double(0.5), "idy": .double(0.5), "odx": .double(offset.x - 0.5),
        "ody": .double(offset.y - 0.5), "oarea": .ints([0, 0, Int32(width), Int32(height)]),
        "extend": .name(hasAlpha ? "background" : "copy"), "background": .doubles(clear),
      ])
  }

  private var clear: [Double] { Array(repeating: 0, count: bands) }

  /// Returns the image with an alpha band, opaque if it had none.
  package func withAlpha() throws(ImagingError) -> Image {
    hasAlpha
      ? self : try Operation.run("bandjoin_const", subject, ["in": .image(self), "c": .doubles([255])])
  }

  /// 0 or 255 in every band but alpha, from gray.
  package func bilevel() throws(ImagingError) -> Image {
    try Operation.run(
      "relational_const", subject,
      ["in": .image(self), "relational": .name("more"), "c": .doubles([127])])
  }

  package func jpegBytes(quality: Int) throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer(
      "jpegsave_buffer", subject, ["in": .image(self), "Q": .int(quality), "strip": .bool(true)])
  }

  /// - Parameters:
  ///   - isQuick: whether encoding takes about half the time, for slightly more bytes.
  ///   - isLossless: whether every pixel is kept as it is; `quality` is ignored then.
  package func webpBytes(
    quality: Int, isQuick: Bool = false, isLossless: Bool = false
  ) throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer(
      "webpsave_buffer", subject,
      [
        "in": .image(self), "Q": .int(quality), "effort": .int(isQuick ? 0 : 2), "strip": .bool(true),
        "lossless": .bool(isLossless),
      ])
  }

  /// Deflate-compressed TIFF.
  package func tiffBytes() throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer(
      "tiffsave_buffer", subject,
      [
        "in": .image(self), "compression": .name("deflate"), "predictor": .name("horizontal"),
        "strip": .bool(true),
      ])
  }

  package func gifBytes() throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer("gifsave_buffer", subject, ["in": .image(self), "strip": .bool(true)])
  }
}
