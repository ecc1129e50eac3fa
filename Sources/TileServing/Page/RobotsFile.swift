import ZigguratHTTPMessages

/// The rules for crawlers (RFC 9309), where `--webroot` has no `robots.txt`.
///
/// Pages, the lists and descriptions that they are made of, and pictures of whole images may be fetched, so that a search
/// engine finds the images and shows a preview. Tiles and parts of images may not: one image has millions of such
/// addresses, none of them is worth a search result, and each that is not stored is rendered.
struct RobotsFile {
  private static let forbidden = [
    "/dzi/*_files/", "/iiif/2/", "/iiif/3/", "/zoomify/", "/xyz/", "/iip", "/api/", "/metrics",
  ]
  /// Exceptions: longer rules win (section 2.2.2).
  private static let allowed = [
    "/iiif/2/*/info.json", "/iiif/3/*/info.json", "/iiif/3/*/full/", "/api/images", "/api/session",
  ]
  /// Pictures of views.
  private static let forbiddenAgain = [
    "/api/images/*/viewport.jpg", "/api/images/*/viewport.png", "/api/images/*/viewport.webp",
  ]

  let text: String

  /// - Parameter base: in front of every path. Crawlers read the file at the root of a host alone: the site that has the server
  ///   below a path takes the rules over from here.
  init(below base: BasePath) {
    var lines = ["User-agent: *"]
    lines += (Self.forbidden + Self.forbiddenAgain).map { "Disallow: \(base.text)\($0)" }
    lines += Self.allowed.map { "Allow: \(base.text)\($0)" }
    text = lines.joined(separator: "\n") + "\n"
  }
}
