extension Image {
  /// Turned and mirrored upright as its EXIF orientation says, which is then 1.
  public func autorotated() throws(ImagingError) -> Image {
    try Operation.run("autorot", subject, ["in": .image(self)])
  }

  /// Converted to `space` (`srgb`, `b-w`) from the space it says it is in.
  public func converted(to space: String) throws(ImagingError) -> Image {
    try Operation.run("colourspace", subject, ["in": .image(self), "space": .name(space)])
  }

  /// Converted to 8-bit sRGB by its embedded ICC profile.
  public func convertedFromEmbeddedProfile() throws(ImagingError) -> Image {
    try Operation.run(
      "icc_transform", subject,
      [
        "in": .image(self), "output-profile": .string("srgb"), "embedded": .bool(true),
        "intent": .name("perceptual"), "depth": .int(8),
      ])
  }

  /// Laid over a background; the alpha band is gone.
  ///
  /// - Parameter background: one number for each band but alpha, in the image's own range.
  public func flattened(over background: [Double]) throws(ImagingError) -> Image {
    try Operation.run("flatten", subject, ["in": .image(self), "background": .doubles(background)])
  }

  /// Bands as unsigned bytes, clipped.
  public func castToBytes() throws(ImagingError) -> Image {
    try Operation.run("cast", subject, ["in": .image(self), "format": .name("uchar")])
  }

  /// The first `count` bands from `first` on.
  public func bands(from first: Int, count: Int) throws(ImagingError) -> Image {
    try Operation.run(
      "extract_band", subject, ["in": .image(self), "band": .int(first), "n": .int(count)])
  }

  /// Encoded as PNG without metadata.
  public func pngBytes() throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer("pngsave_buffer", subject, ["in": .image(self), "strip": .bool(true)])
  }

  /// Encoded as AVIF without metadata.
  ///
  /// - Parameter quality: 1…100.
  public func avifBytes(quality: Int) throws(ImagingError) -> [UInt8] {
    try Operation.runToBuffer(
      "heifsave_buffer", subject,
      ["in": .image(self), "compression": .name("av1"), "Q": .int(quality), "strip": .bool(true)])
  }
}
