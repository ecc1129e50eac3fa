/// A file format that pictures are encoded in, known by the ending of its URLs.
public struct PictureFormat: Hashable, Sendable {
  /// Without a dot: `jpg`.
  public let fileExtension: String
  public let mediaType: String
  /// Whether a pixel can be transparent.
  public let keepsAlpha: Bool

  public static let jpg = PictureFormat("jpg", "image/jpeg", keepsAlpha: false)
  public static let png = PictureFormat("png", "image/png", keepsAlpha: true)
  public static let webp = PictureFormat("webp", "image/webp", keepsAlpha: true)
  public static let tif = PictureFormat("tif", "image/tiff", keepsAlpha: true)
  public static let gif = PictureFormat("gif", "image/gif", keepsAlpha: true)
  public static let avif = PictureFormat("avif", "image/avif", keepsAlpha: true)

  public static let all: [PictureFormat] = [.jpg, .png, .webp, .tif, .gif, .avif]

  /// Nil for an ending that no format has, in lower case.
  public init?(fileExtension: String) {
    guard let known = Self.all.first(where: { $0.fileExtension == fileExtension }) else { return nil }
    self = known
  }

  private init(_ fileExtension: String, _ mediaType: String, keepsAlpha: Bool) {
    (self.fileExtension, self.mediaType, self.keepsAlpha) = (fileExtension, mediaType, keepsAlpha)
  }
}

/// How many colours a picture has (IIIF Image API 3.0, section 4.4).
public enum PictureQuality: String, Hashable, Sendable, CaseIterable {
  case color, gray
  /// Black and white, parted at the middle.
  case bitonal
}
