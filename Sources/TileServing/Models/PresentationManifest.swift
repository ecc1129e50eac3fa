import Foundation
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratMetadata
import ZigguratText
import ZigguratTileProtocols

/// IIIF Presentation 3.0 of one image, or of a book with its pages as canvases.
struct PresentationManifest {
  let reference: ImageReference
  /// One image, or a book's pages in order; each with its pyramid.
  let pages: [FoundEntry]
  /// The absolute prefix of URLs.
  let base: String
  var identity = SiteIdentity()
  /// The description of a book as a whole; nil if it has none.
  var book: BookDescription?

  /// Linked data unless a client prefers plain JSON (Presentation 3.0, section 6.3).
  static let forms = [
    TileDocument.Form(name: "application/ld+json", mediaType: "application/ld+json;profile=\"\(context)\""),
    TileDocument.Form(name: "application/json", mediaType: "application/json"),
  ]
  static let context = "http://iiif.io/api/presentation/3/context.json"

  static func url(of reference: ImageReference, base: String, version: IIIFVersion = .three) -> String {
    "\(base)/iiif/presentation/\(version.rawValue)/\(PercentEncoding.encode(reference.text))/manifest"
  }

  var json: JSONValue {
    let first = pages[0]
    let isBook = isBook
    let hasCommonTitle = hasCommonTitle
    var metadata = first.entry.metadata
    if isBook, !hasCommonTitle { (metadata.title, metadata.titles) = (nil, [:]) }
    if let book { metadata = book.merged(besides: metadata, title: metadata.title) }
    let canvases = pages.map { "\(place)/canvas/\(PercentEncoding.encode(isBook ? name(ofPage: $0) : "1"))" }
    var result: JSONValue = [
      "@context": .text(Self.context), "id": .text(Self.url(of: reference, base: base)), "type": "Manifest",
      "label": label(metadata),
      "items": .list(
        zip(pages, canvases).map {
          canvas($0, id: $1, titleOfAll: hasCommonTitle ? first.entry.metadata.title : metadata.title)
        }),
      "thumbnail": [thumbnail(cover)],
      "homepage": [
        [
          "id": "\(base)/view/\(PercentEncoding.encode(first.reference.text))", "type": "Text",
          "format": "text/html",
          "label": label(metadata),
        ]
      ],
    ]
    if isBook {
      result["behavior"] = [.text((book?.behavior ?? .paged).rawValue)]
      if let direction = book?.viewingDirection { result["viewingDirection"] = .text(direction.rawValue) }
      if let structures = structures(canvases) { result["structures"] = structures }
    }
    describe(metadata, &result)
    return linked(result)
  }

  /// Whether the manifest is of a book: its pages have other ids than itself.
  var isBook: Bool { pages[0].reference != reference }

  /// The page that represents a book: the one that its description names, or else the first.
  private var cover: FoundEntry {
    guard let name = book?.cover else { return pages[0] }
    let number = Int(name).flatMap { $0 > 0 && $0 <= pages.count ? pages[$0 - 1] : nil }
    return pages.first { self.name(ofPage: $0) == name } ?? number ?? pages[0]
  }

  /// The prefix of the ids of canvases and ranges.
  var place: String { "\(base)/iiif/presentation/3/\(PercentEncoding.encode(reference.text))" }

  /// Returns the name of a page within the book. It does not change if other pages are added or removed.
  func name(ofPage page: FoundEntry) -> String {
    String(page.entry.id.text.utf8.dropFirst(reference.id.text.utf8.count + 1)) ?? ""
  }

  /// Whether all pages have the same title, as those of one file do.
  private var hasCommonTitle: Bool {
    let title = pages[0].entry.metadata.title
    return pages.allSatisfy { $0.entry.metadata.title == title }
  }

  /// Returns the title in all available languages.
  private func label(_ metadata: ImageMetadata) -> JSONValue {
    var languages = metadata.titles.mapValues { JSONValue.list([.text(Self.plain($0))]) }
    if let title = metadata.title, !metadata.titles.values.contains(title) {
      languages["none"] = [.text(Self.plain(title))]
    }
    return languages.isEmpty ? Self.text(reference.id.name) : .object(languages)
  }

  private func describe(_ metadata: ImageMetadata, _ result: inout JSONValue) {
    if let caption = metadata.caption { result["summary"] = Self.text(caption) }
    let license = RightsAddress(metadata)
    // A license that appears in `rights` is not repeated in the metadata.
    func unlessShown(_ text: String?) -> String? {
      text.flatMap { license != nil && RightsAddress($0)?.text == license?.text ? nil : $0 }
    }
    var fields: [JSONValue] = []
    for (label, values) in [
      ("Creator", metadata.creators), ("Date", Self.list(metadata.date)),
      ("Place", Self.list(metadata.place)), ("Keywords", metadata.keywords),
      ("Identifier", Self.list(metadata.identifier)), ("Source", Self.list(metadata.source)),
      ("License", Self.list(unlessShown(metadata.license))),
      ("Rights statement", Self.list(unlessShown(metadata.webStatement))),
    ] where !values.isEmpty {
      fields.append(["label": ["en": [.text(label)]], "value": Self.texts(values)])
    }
    if !fields.isEmpty { result["metadata"] = .list(fields) }
    if let license { result["rights"] = .text(license.text) }
    let rights = unlessShown(metadata.rights)
    // Many programs write the same text into several fields.
    let required = [rights, metadata.usageTerms, metadata.credit].compactMap(\.self)
      .reduce(into: [String]()) { texts, text in if !texts.contains(text) { texts.append(text) } }
    guard !required.isEmpty else { return }
    let label = rights != nil || metadata.usageTerms != nil ? "Rights" : "Credit"
    result["requiredStatement"] = ["label": ["en": [.text(label)]], "value": Self.texts(required)]
  }

  private func canvas(_ page: FoundEntry, id canvas: String, titleOfAll: String?) -> JSONValue {
    let size = page.entry.pyramid?.imageSize
    var result: JSONValue = [
      "id": .text(canvas), "type": "Canvas",
      "label": Self.text(canvasLabel(page, titleOfAll)),
      "width": .integer(size?.width ?? 1), "height": .integer(size?.height ?? 1),
      "thumbnail": [thumbnail(page)],
      "items": [
        [
          "id": "\(canvas)/page", "type": "AnnotationPage",
          "items": [
            [
              "id": "\(canvas)/painting", "type": "Annotation", "motivation": "painting",
              "target": .text(canvas),
              // The size of a rendered picture is limited; viewers load more detail by tiles.
              "body": picture(page, side: 4096),
            ]
          ],
        ]
      ],
    ]
    if let scale = Self.physicalScale(page.entry, of: canvas) { result["service"] = [scale] }
    return result
  }

  /// Returns the title of a page, or its name in the book if all pages have the book's title.
  ///
  /// - Parameter titleOfAll: the title of the book.
  private func canvasLabel(_ page: FoundEntry, _ titleOfAll: String?) -> String {
    let entry = page.entry
    guard page.reference != reference, let number = entry.page else { return Self.title(entry) }
    let own = entry.metadata.title
    return (own == titleOfAll ? nil : own) ?? entry.label ?? String(number)
  }

  /// Returns the thumbnail of a page. A viewer that requests more pixels than the image has is refused, as is
  /// Mirador, which requests 120 along a side. A smaller image therefore has a thumbnail without an image service.
  func thumbnail(_ page: FoundEntry) -> JSONValue {
    var thumbnail = picture(page, side: 256)
    if let size = page.entry.pyramid?.imageSize, min(size.width, size.height) < 120 {
      thumbnail["service"] = nil
    }
    return thumbnail
  }

  private func picture(_ page: FoundEntry, side: Int) -> JSONValue {
    guard let picture = Self.picture(page, side: side, base: base) else { return [:] }
    return [
      "id": .text(picture.address), "type": "Image", "format": "image/jpeg",
      "width": .integer(picture.size.width), "height": .integer(picture.size.height),
      "service": [["id": .text(picture.service), "type": "ImageService3", "profile": "level2"]],
    ]
  }

  /// Returns the finest level with at most `side` pixels on each side. It is a single tile or cheap to render.
  static func picture(
    _ found: FoundEntry, side: Int, base: String
  ) -> (service: String, address: String, size: PixelSize)? {
    guard let pyramid = found.entry.pyramid else { return nil }
    var level = pyramid.topLevel
    while max(pyramid.size(ofLevel: level).width, pyramid.size(ofLevel: level).height) > side { level -= 1 }
    let size = pyramid.size(ofLevel: level)
    let service = IIIFRequest.folder(.three, ofID: PercentEncoding.encode(found.reference.text), base: base)
    let name = URLWriter.string {
      let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
      IIIFTileName.write(whole, level: level, of: pyramid, .three, .jpeg, &$0)
    }
    return (service, "\(service)/\(name)", size)
  }

  static func title(_ entry: CatalogEntry) -> String { entry.metadata.title ?? entry.id.name }

  static func text(_ text: String) -> JSONValue { texts([text]) }

  private static func texts(_ texts: [String]) -> JSONValue {
    ["none": .list(texts.map { .text(plain($0)) })]
  }

  private static func list(_ text: String?) -> [String] { text.map { [$0] } ?? [] }

  /// Returns the text such that viewers do not parse it as HTML. They do so if it begins with `<` and ends with
  /// `>`, unless white space follows (Presentation 3.0, section 4.5).
  private static func plain(_ text: String) -> String {
    text.hasPrefix("<") && text.hasSuffix(">") ? text + " " : text
  }
}
