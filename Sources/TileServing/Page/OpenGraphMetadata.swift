import TileGeometry
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// Metadata in a page for link previews (the Open Graph protocol, https://ogp.me) and for embedding
/// (https://oembed.com, section 4).
struct OpenGraphMetadata {
  /// Maximum length of the picture's longer side, in pixels: services accept up to 1200.
  private static let side = 1200

  /// The elements for the page's head.
  let html: String

  /// - Parameter base: the absolute prefix of URLs, since other sites make the preview.
  init?(_ found: FoundEntry, base: String, _ site: SiteIdentity) {
    guard let picture = PresentationManifest.picture(found, side: Self.side, base: base) else {
      return nil
    }
    let address = "\(base)/view/\(PercentEncoding.encode(found.reference.text))"
    let metadata = found.entry.metadata
    let title = PresentationManifest.title(found.entry)
    let facts = [
      ("og:type", "website"), ("og:title", title),
      ("og:description", metadata.caption), ("og:site_name", site.name), ("og:url", address),
      ("og:image", picture.address),
      ("og:image:width", "\(picture.size.width)"), ("og:image:height", "\(picture.size.height)"),
      ("og:image:type", "image/jpeg"),
    ]
    let lines = facts.compactMap { name, value in
      value.map { "<meta property=\"\(name)\" content=\"\(HTMLText.attribute($0))\">\n" }
    }
    let link = PercentEncoding.encode(address)
    let embedding =
      "<link rel=\"alternate\" type=\"application/json+oembed\" "
      + "href=\"\(HTMLText.attribute(base))/oembed?url=\(link)\" title=\"\(HTMLText.attribute(title))\">\n"
    html = "<meta name=\"twitter:card\" content=\"summary_large_image\">\n" + lines.joined() + embedding
  }
}
