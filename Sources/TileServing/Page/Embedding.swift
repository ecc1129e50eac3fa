import TileGeometry
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// What stands for a link to a picture on other sites: the viewer in a frame (oEmbed 1.0, https://oembed.com).
struct Embedding: Encodable {
  /// Pixels that the frame has at most where nobody says how many.
  private static let most = (width: 960, height: 720)
  /// Pixels of the thumbnail's longer side at most.
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
  /// Pixels.
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

  /// Nil for a picture that cannot be read.
  ///
  /// - Parameters:
  ///   - base: absolute, since other sites read it.
  ///   - limits: pixels that the frame may have; nil where the asker does not say.
  init?(
    _ entry: CatalogEntry, base: String, _ site: SiteIdentity, within limits: (width: Int?, height: Int?)
  ) {
    guard let pyramid = entry.pyramid,
      let picture = PresentationManifest.picture(entry, side: Self.thumbnail, base: base)
    else { return nil }
    let image = pyramid.size(ofLevel: pyramid.topLevel)
    let most = (
      width: Double(limits.width ?? Self.most.width), height: Double(limits.height ?? Self.most.height)
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
    let address = HTMLText.attribute("\(base)/embed/\(PercentEncoding.encode(entry.id.text))")
    html =
      "<iframe src=\"\(address)\" width=\"\(width)\" height=\"\(height)\" title=\"\(HTMLText.attribute(title))\" "
      + "style=\"border: 0\" loading=\"lazy\" allowfullscreen></iframe>"
  }
}

extension Router {
  /// What stands for the link that the query names.
  func embedding() -> Reply {
    let query = decodedQuery
    func value(_ name: String) -> String? { query.parameters.last { $0.name == name }?.value }
    // The other format that there is (section 2.3.3).
    guard value("format") != "xml" else { return .problem(501, "Not implemented", "format is json") }
    var errors: [InvalidInput] = []
    if value("url") == nil {
      errors.append(InvalidInput(parameter: "url", "url is missing: the address of a picture's page"))
    }
    if ![nil, "json"].contains(value("format")) {
      errors.append(InvalidInput(parameter: "format", "format is json"))
    }
    var limits: [Int?] = []
    for name in ["maxwidth", "maxheight"] {
      let text = value(name)
      let number = text.flatMap(Self.number)
      if text != nil, (number ?? 0) <= 0 {
        errors.append(InvalidInput(parameter: name, "\(name) is a number of pixels above 0"))
      }
      limits.append(number)
    }
    if let problem = query.problem(errors) { return .response(problem) }
    let (base, identity) = (absoluteBase, site.identity)
    // What is private is in nobody else's page.
    let id = value("url").flatMap { self.id(ofPage: $0) }.flatMap { $0.isPrivate ? nil : $0 }
    let most = (limits[0], limits[1])
    @Sendable func embedding(_ router: Router, _ id: ImageID?) -> Reply {
      router.known(id, problem: true) { _, entry, _ in
        Embedding(entry, base: base, identity, within: most).map { .json($0) }
          ?? .problem(500, "Unreadable", "the archive of this image cannot be read")
      }
    }
    guard let id, let place = place(id), isNoImage(place) else { return embedding(self, id) }
    return rest(on: asksDatabase(about: id) ? site.reading : nil) { router in
      do throws(StorageError) { return embedding(router, try router.cover(ofBook: id)?.id ?? id) } catch {
        return .response(Self.unlisted(error))
      }
    }
  }

  /// The image whose page an address of this server's is.
  private func id(ofPage address: String) -> ImageID? {
    let host = request.header("Host") ?? ""
    let bases = base.isEmpty ? ["http://\(host)", "https://\(host)"] : [base]
    for page in bases.flatMap({ ["\($0)/view/", "\($0)/embed/"] }) where address.hasPrefix(page) {
      let segment = address.dropFirst(page.count).prefix { $0 != "?" && $0 != "#" }
      return PercentEncoding.decodedString(segment.utf8).flatMap { ImageID($0) }
    }
    return nil
  }
}
