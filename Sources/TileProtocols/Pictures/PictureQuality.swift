/// How many colours a picture has (IIIF Image API 3.0, section 4.4).
package enum PictureQuality: String, Hashable, Sendable, CaseIterable {
  case color, gray
  /// Black and white, parted at the middle.
  case bitonal
}
