import ZigguratHTTPMessages

/// The rules for crawlers (RFC 9309) if `--webroot` has no `robots.txt`.
///
/// Pages, the lists and descriptions that they load, and pictures of whole images are allowed. A search engine can
/// therefore find the images and show a preview. Tiles and regions of images are not allowed. An image has millions
/// of such addresses, none is useful as a search result, and each one that is not stored must be rendered.
struct RobotsFile {
  private static let forbidden = [
    "/dzi/*_files/", "/iiif/2/", "/iiif/3/", "/zoomify/", "/xyz/", "/iip", "/api/", "/metrics",
  ]
  /// Exceptions: longer rules take precedence (section 2.2.2).
  private static let allowed = [
    "/iiif/2/*/info.json", "/iiif/3/*/info.json", "/iiif/3/*/full/", "/api/images", "/api/session",
  ]
  /// Pictures of viewports.
  private static let forbiddenAgain = [
    "/api/images/*/viewport.jpg", "/api/images/*/viewport.png", "/api/images/*/viewport.webp",
  ]

  let text: String

  /// - Parameter base: the prefix of every path. Crawlers read only the file at the root of a host. A site that
  ///   serves the server below a path has to copy the rules from here.
  init(below base: BasePath) {
    var lines = ["User-agent: *"]
    lines += (Self.forbidden + Self.forbiddenAgain).map { "Disallow: \(base.text)\($0)" }
    lines += Self.allowed.map { "Allow: \(base.text)\($0)" }
    text = lines.joined(separator: "\n") + "\n"
  }
}
