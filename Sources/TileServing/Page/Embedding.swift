import TileGeometry
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// The oEmbed representation of an image's page: the viewer in a frame (oEmbed 1.0, https://oembed.com).
struct Embedding: Encodable {
  /// Maximum size of the frame, in pixels, if the request gives none.
  private static let maximum = (width: 960, height: 720)
  /// Maximum length of the thumbnail's longer side, in pixels.
  private static let thumbnail = 512

  let version = "1.0"
  let type = "rich"
  let title: String
  let author: String?
  let provider: String
  let providerAddress: String
  let thumbnailAddress: String
  let thumbnailWidth, thumbnailHeight: Int
  let html: String
  /// The size of the frame, in pixels.
  let width, height: Int

  private enum CodingKeys: String, CodingKey {
    case version, type, title, html, width, height
    case author = "author_name"
    case provider = "provider_name"
    case providerAddress = "provider_url"
    case thumbnailAddress = "thumbnail_url"
    case thumbnailWidth = "thumbnail_width"
    case thumbnailHeight = "thumbnail_height"
  }

  /// Returns `nil` for an image that cannot be read.
  ///
  /// - Parameters:
  ///   - base: the absolute prefix of URLs, since other sites read it.
  ///   - limits: the maximum size of the frame in pixels; `nil` if the request gives none.
  init?(
    _ found: FoundEntry, base: String, _ site: SiteIdentity, within limits: (width: Int?, height: Int?)
  ) {
    let entry = found.entry
    guard let pyramid = entry.pyramid,
      let picture = PresentationManifest.picture(found, side: Self.thumbnail, base: base)
    else { return nil }
    let image = pyramid.size(ofLevel: pyramid.topLevel)
    let most = (
      width: Double(limits.width ?? Self.maximum.width), height: Double(limits.height ?? Self.maximum.height)
    )
    let scale = min(most.width / Double(image.width), most.height / Double(image.height))
    // Rounded down: neither is above its limit.
    width = max(1, Int(Double(image.width) * scale))
    height = max(1, Int(Double(image.height) * scale))
    title = PresentationManifest.title(entry)
    let creators = entry.metadata.creators
    author = creators.isEmpty ? nil : creators.joined(separator: ", ")
    provider = site.name ?? "Ziggurat"
    providerAddress = "\(base)/"
    thumbnailAddress = picture.address
    thumbnailWidth = picture.size.width
    thumbnailHeight = picture.size.height
    let address = HTMLText.attribute("\(base)/embed/\(PercentEncoding.encode(found.reference.text))")
    html =
      "<iframe src=\"\(address)\" width=\"\(width)\" height=\"\(height)\" title=\"\(HTMLText.attribute(title))\" "
      + "style=\"border: 0\" loading=\"lazy\" allowfullscreen></iframe>"
  }
}
