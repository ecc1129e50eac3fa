import TileGeometry
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// The metadata of a page from which other sites make a preview of its picture (Open Graph protocol, https://ogp.me), and
/// its link to the description of the frame (oEmbed, https://oembed.com, section 4).
struct LinkCard {
  /// Pixels of the longer side at most: services take up to 1200.
  private static let side = 1200

  /// Elements for the page's head.
  let html: String

  /// - Parameter base: absolute, since a preview is made elsewhere.
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
