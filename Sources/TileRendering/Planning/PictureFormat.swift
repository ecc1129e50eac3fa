/// A file format that pictures are encoded in, known by the ending of its URLs.
package struct PictureFormat: Hashable, Sendable {
  /// Without a dot: `jpg`.
  package let fileExtension: String
  package let mediaType: String
  /// Whether a pixel can be transparent.
  package let keepsAlpha: Bool

  package static let jpg = PictureFormat("jpg", "image/jpeg", keepsAlpha: false)
  package static let png = PictureFormat("png", "image/png", keepsAlpha: true)
  package static let webp = PictureFormat("webp", "image/webp", keepsAlpha: true)
  package static let tif = PictureFormat("tif", "image/tiff", keepsAlpha: true)
  package static let gif = PictureFormat("gif", "image/gif", keepsAlpha: true)
  package static let avif = PictureFormat("avif", "image/avif", keepsAlpha: true)

  package static let all: [PictureFormat] = [.jpg, .png, .webp, .tif, .gif, .avif]

  /// Nil for an ending that no format has, in lower case.
  package init?(fileExtension: String) {
    guard let known = Self.all.first(where: { $0.fileExtension == fileExtension }) else { return nil }
    self = known
  }

  private init(_ fileExtension: String, _ mediaType: String, keepsAlpha: Bool) {
    (self.fileExtension, self.mediaType, self.keepsAlpha) = (fileExtension, mediaType, keepsAlpha)
  }
}

/// How many colours a picture has (IIIF Image API 3.0, section 4.4).
package enum PictureQuality: String, Hashable, Sendable, CaseIterable {
  case color, gray
  /// Black and white, parted at the middle.
  case bitonal
}
