/// Colour conversion by ICC profiles.
extension Image {
  /// Returns the image converted to 8-bit sRGB by its embedded ICC profile.
  ///
  /// - Parameter intent: `perceptual`, `relative`, `saturation`, `absolute`.
  package func convertedFromEmbeddedProfile(intent: String) throws(ImagingError) -> Image {
    try withoutAlpha { (colours) throws(ImagingError) in
      try Operation.run(
        "icc_transform", subject,
        [
          "in": .image(colours), "output-profile": .string("srgb"), "embedded": .bool(true),
          "intent": .name(intent), "depth": .int(8),
          "black-point-compensation": .bool(usesBlackPointCompensation(intent)),
        ])
    }
  }

  /// Returns a CMYK image without a profile, converted to 8-bit sRGB by the CMYK profile of libvips.
  ///
  /// That profile is for proofs. For `perceptual` and `saturation` it gives relative colorimetric with black point
  /// compensation.
  package func convertedFromBareCMYK(intent: String) throws(ImagingError) -> Image {
    try withoutAlpha { (colours) throws(ImagingError) in
      try Operation.run(
        "icc_transform", subject,
        [
          "in": .image(colours), "output-profile": .string("srgb"), "input-profile": .string("cmyk"),
          "intent": .name(usesBlackPointCompensation(intent) ? "relative" : intent), "depth": .int(8),
          "black-point-compensation": .bool(usesBlackPointCompensation(intent)),
        ])
    }
  }

  /// Returns the image with its colours converted to 8 bits. Alpha of 16 bits keeps its upper 8; libvips would clip it
  /// at 255.
  private func withoutAlpha(
    _ convert: (Image) throws(ImagingError) -> Image
  ) throws(ImagingError) -> Image {
    guard hasAlpha, sampleType == .unsigned16 else { return try convert(self) }
    let colours = try convert(bands(from: 0, count: bands - 1).said(toBe: interpretation))
    let alpha = try Operation.run(
      "cast", subject,
      ["in": .image(bands(from: bands - 1, count: 1)), "format": .name("uchar"), "shift": .bool(true)])
    return try colours.joined(with: alpha).said(toBe: colours.interpretation)
  }

  /// Returns an image of CIELAB under D50, as in ICC profiles and TIFF, converted to 8-bit sRGB.
  package func convertedFromLab(intent: String) throws(ImagingError) -> Image {
    try Operation.run(
      "icc_export", subject,
      [
        "in": .image(converted(to: "lab")), "output-profile": .string("srgb"), "intent": .name(intent),
        "depth": .int(8), "black-point-compensation": .bool(usesBlackPointCompensation(intent)),
      ])
  }
}

/// Whether black point compensation applies. It suits pictures that are reproduced in another medium, but not measured
/// colours.
private func usesBlackPointCompensation(_ intent: String) -> Bool {
  intent == "perceptual" || intent == "saturation"
}
