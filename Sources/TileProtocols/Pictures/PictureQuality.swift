/// The colours of a picture (IIIF Image API 3.0, section 4.4).
package enum PictureQuality: String, Hashable, Sendable, CaseIterable {
  case color, gray
  /// Black and white, with the threshold in the middle.
  case bitonal
}
