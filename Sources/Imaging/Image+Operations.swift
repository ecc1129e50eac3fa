import ZigguratCVips

extension Image {
  /// Returns the image with each value multiplied by a factor of its band, plus an offset. A single factor and offset
  /// apply to all bands. Several make an image of one band into one of several.
  ///
  /// - Parameter makesBytes: whether the result has unsigned bytes, clipped and truncated; otherwise it has floats.
  func linear(_ factors: [Double], _ offsets: [Double], makesBytes: Bool = false) throws(ImagingError)
    -> Image
  {
    try Operation.run(
      "linear", subject,
      [
        "in": .image(self), "a": .doubles(factors), "b": .doubles(offsets), "uchar": .bool(makesBytes),
      ])
  }

  /// Returns the image with samples of libvips' named type, clipped and truncated.
  func cast(to format: String) throws(ImagingError) -> Image {
    try Operation.run("cast", subject, ["in": .image(self), "format": .name(format)])
  }

  /// Returns the image with the bands of another one appended.
  func joined(with other: Image) throws(ImagingError) -> Image {
    try Operation.run("bandjoin", subject, ["in": .images([self, other])])
  }

  /// Returns a rectangle of the image.
  package func area(left: Int, top: Int, width: Int, height: Int) throws(ImagingError) -> Image {
    try Operation.run(
      "extract_area", subject,
      [
        "input": .image(self), "left": .int(left), "top": .int(top), "width": .int(width),
        "height": .int(height),
      ])
  }

  /// Returns the image on a canvas of one colour, which has a value for each band.
  package func embedded(
    left: Int, top: Int, width: Int, height: Int, background: [Double]
  ) throws(ImagingError) -> Image {
    try Operation.run(
      "embed", subject,
      [
        "in": .image(self), "x": .int(left), "y": .int(top), "width": .int(width), "height": .int(height),
        "extend": .name("background"), "background": .doubles(background),
      ])
  }

  /// Returns the image converted from its colour space to `space` (`srgb`, `b-w`).
  package func converted(to space: String) throws(ImagingError) -> Image {
    try Operation.run("colourspace", subject, ["in": .image(self), "space": .name(space)])
  }

  /// Returns Radiance's shared exponents as floats.
  package func unpackedRadiance() throws(ImagingError) -> Image {
    try Operation.run("rad2float", subject, ["in": .image(self)])
  }

  /// Returns the image composited over a background, without alpha. Gray over a colour becomes RGB.
  ///
  /// - Parameter color: red, green, blue, each 0…255.
  package func flattened(over color: [Int]) throws(ImagingError) -> Image {
    let isGray = bands < 3 && Set(color).count < 2
    let image = bands < 3 && !isGray ? try converted(to: "srgb") : self
    let background = (isGray ? Array(color.prefix(1)) : color).map(Double.init)
    return try Operation.run("flatten", subject, ["in": .image(image), "background": .doubles(background)])
  }

  /// Returns the image with bands of unsigned bytes, clipped.
  package func castToBytes() throws(ImagingError) -> Image { try cast(to: "uchar") }

  /// Returns `count` bands, starting with the band `first`.
  package func bands(from first: Int, count: Int) throws(ImagingError) -> Image {
    try Operation.run(
      "extract_band", subject, ["in": .image(self), "band": .int(first), "n": .int(count)])
  }

  /// Returns these bands in this order, counted from 0: one band as gray, three as red, green and blue. Floats then
  /// have no range from a colour space.
  package func picked(bands picked: [Int]) throws(ImagingError) -> Image {
    let depth = sampleType == .byte || floatingPoint != nil ? 0 : 1
    return try selected(bands: picked).said(
      toBe: picked.count == 1 ? ["b-w", "grey16"][depth] : ["srgb", "rgb16"][depth])
  }

  /// Returns these bands in this order, counted from 0, in the same colour space.
  package func selected(bands selected: [Int]) throws(ImagingError) -> Image {
    var image = try bands(from: selected[0], count: 1)
    for band in selected.dropFirst() { image = try image.joined(with: bands(from: band, count: 1)) }
    return try image.said(toBe: interpretation)
  }

  /// Returns 32-bit integers as doubles: libvips' `linear` computes with floats, which cannot represent all of them.
  func exactForLinear() throws(ImagingError) -> Image {
    [.unsigned32, .signed32].contains(sampleType) ? try cast(to: "double") : self
  }

  /// Returns the image with each value of the first `count` bands subtracted from `top`.
  package func inverted(first count: Int, top: Double) throws(ImagingError) -> Image {
    let factors = (0..<bands).map { $0 < count ? -1.0 : 1 }
    let offsets = (0..<bands).map { $0 < count ? top : 0 }
    return try exactForLinear().linear(factors, offsets).cast(like: self)
  }

  /// Returns the image with all other bands divided by the last one, which is alpha.
  ///
  /// - Parameters:
  ///   - white: the maximum of alpha; nil for that of the other bands.
  ///   - rounds: whether integer samples are rounded to nearest; otherwise they are truncated.
  package func unpremultiplied(white: Double? = nil, rounds: Bool = false) throws(ImagingError) -> Image {
    // libvips supports no alpha maximum above 10⁸; beside Lab it is 255.
    let range = white.map { 0...$0 } ?? sampleRange ?? (interpretation == "lab" ? 0...255 : 0...1)
    guard range.lowerBound == 0, range.upperBound <= 65535 else {
      let white = range.upperBound - range.lowerBound
      let shares = try linear([1 / white], [-range.lowerBound / white])
      let divided = try Operation.run(
        "unpremultiply", subject, ["in": .image(shares), "max-alpha": .double(1)])
      return try divided.linear([white], [range.lowerBound]).cast(like: self)
    }
    var image = try Operation.run(
      "unpremultiply", subject, ["in": .image(self), "max-alpha": .double(range.upperBound)])
    if rounds, sampleType.range != nil { image = try image.linear([1], [0.5]) }
    return try image.cast(like: self)
  }

  /// Returns the image with each band multiplied by its own factor; floats stay floats.
  package func multiplied(by factors: [Double]) throws(ImagingError) -> Image {
    try linear(factors, [Double](repeating: 0, count: bands))
  }

  /// Returns the image with an 8-bit band appended as alpha. The minimum of its range is transparent.
  package func withAlpha(_ mask: Image) throws(ImagingError) -> Image {
    // Beside linear light, libvips' alpha has the range 0…255.
    let range = sampleRange ?? (interpretation == "scrgb" ? 0...255 : 0...1)
    let factor = (range.upperBound - range.lowerBound) / 255
    let alpha = sampleType == .byte ? mask : try mask.linear([factor], [range.lowerBound]).cast(like: self)
    return try joined(with: alpha).said(toBe: interpretation)
  }

  /// Returns samples of the type and in the colour space of another image, clipped. Floats that represent 32-bit
  /// integers stay floats, because libvips' cast would overflow.
  private func cast(like other: Image) throws(ImagingError) -> Image {
    if [.unsigned32, .signed32].contains(other.sampleType), sampleType == .float {
      let floats = try said(toBe: other.interpretation)
      if !other.hasDeclaredBits { floats.declareBits(other.sampleType == .signed32 ? -32 : 32) }
      return floats
    }
    let format = vips_enum_nick(
      vips_band_format_get_type(), Int32(vips_image_get_format(other.pointer).rawValue))
    guard let format else { return self }
    return try cast(to: String(cString: format)).said(toBe: other.interpretation)
  }

  /// Returns the same numbers tagged with another colour space.
  package func said(toBe interpretation: String) throws(ImagingError) -> Image {
    try Operation.run("copy", subject, ["in": .image(self), "interpretation": .name(interpretation)])
  }

  /// Returns the image encoded as PNG without metadata.
  package func pngBytes() throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer("pngsave_buffer", subject, ["in": .image(self), "strip": .bool(true)])
  }

  /// Returns the image encoded as AVIF without metadata except its ICC profile, if it has one.
  ///
  /// - Parameters:
  ///   - quality: 1…100.
  ///   - isQuick: whether encoding takes a thirtieth of the time, for a file half as large again.
  ///   - isLossless: whether gray pixels are kept as they are; colours are rounded in the conversion to Y'CbCr.
  package func avifBytes(
    quality: Int, isQuick: Bool = false, isLossless: Bool = false
  ) throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer(
      "heifsave_buffer", subject,
      [
        "in": .image(self), "compression": .name("av1"), "Q": .int(quality),
        "effort": .int(isQuick ? 0 : 4), "lossless": .bool(isLossless),
        // Without `strip`, the file gets the image's profile.
        "strip": .bool(!hasField("icc-profile-data")),
      ])
  }
}
