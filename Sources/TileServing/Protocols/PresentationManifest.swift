import Catalog
import Files
import Foundation
import HTTPMessages
import TileGeometry
import TileProtocols

/// IIIF Presentation 3.0 of one image, or of a book with its pages as canvases.
struct PresentationManifest {
  let id: ImageID
  /// One image, or a book's pages in order; each with its pyramid.
  let pages: [CatalogEntry]
  /// Absolute.
  let base: String

  static let mediaType =
    "application/ld+json;profile=\"http://iiif.io/api/presentation/3/context.json\""
  static let context = "http://iiif.io/api/presentation/3/context.json"

  static func url(ofID id: ImageID, base: String) -> String {
    "\(base)/iiif/presentation/3/\(PercentEncoding.encode(id.text))/manifest"
  }

  var json: JSONValue {
    let first = pages[0]
    let isBook = first.id != id
    var result: JSONValue = [
      "@context": .text(Self.context), "id": .text(Self.url(ofID: id, base: base)), "type": "Manifest",
      "label": Self.text((isBook ? commonTitle : first.metadata.title) ?? id.name),
      "items": .list(pages.enumerated().map { canvas($1, number: $0 + 1) }), "thumbnail": [thumbnail(first)],
      "homepage": [
        [
          "id": "\(base)/view/\(PercentEncoding.encode(first.id.text))", "type": "Text",
          "format": "text/html",
          "label": Self.text(Self.title(first)),
        ]
      ],
    ]
    if isBook { result["behavior"] = ["paged"] }
    describe(first, &result)
    return result
  }

  /// Of a book all of whose pages say the same, as those of one file do.
  private var commonTitle: String? {
    let title = pages[0].metadata.title
    return pages.allSatisfy { $0.metadata.title == title } ? title : nil
  }

  private func describe(_ entry: CatalogEntry, _ result: inout JSONValue) {
    let metadata = entry.metadata
    if let caption = metadata.caption { result["summary"] = Self.text(caption) }
    var fields: [JSONValue] = []
    for (label, value) in [
      ("Creator", metadata.creator.map { [$0] }), ("Date", metadata.date.map { [$0] }),
      ("Place", metadata.place.map { [$0] }),
      ("Keywords", metadata.keywords.isEmpty ? nil : metadata.keywords),
    ] {
      if let value {
        fields.append([
          "label": ["en": [.text(label)]], "value": ["none": .list(value.map { .text(Self.plain($0)) })],
        ])
      }
    }
    if !fields.isEmpty { result["metadata"] = .list(fields) }
    guard let rights = metadata.rights else { return }
    if let license = RightsAddress(rights) {
      result["rights"] = .text(license.text)
    } else {
      result["requiredStatement"] = ["label": ["en": ["Rights"]], "value": Self.text(rights)]
    }
  }

  private func canvas(_ entry: CatalogEntry, number: Int) -> JSONValue {
    let place = "\(base)/iiif/presentation/3/\(PercentEncoding.encode(id.text))"
    let size = entry.pyramid?.imageSize
    let canvas = "\(place)/canvas/\(number)"
    return [
      "id": .text(canvas), "type": "Canvas",
      "label": Self.text(entry.page.map(String.init) ?? Self.title(entry)),
      "width": .integer(size?.width ?? 1), "height": .integer(size?.height ?? 1),
      "thumbnail": [thumbnail(entry)],
      "items": [
        [
          "id": "\(canvas)/page", "type": "AnnotationPage",
          "items": [
            [
              "id": "\(canvas)/painting", "type": "Annotation", "motivation": "painting",
              "target": .text(canvas),
              // A rendered answer has its bounds: more than this comes by tiles.
              "body": picture(entry, side: 4096),
            ]
          ],
        ]
      ],
    ]
  }

  private func thumbnail(_ entry: CatalogEntry) -> JSONValue { picture(entry, side: 256) }

  /// The finest level within `side` pixels along a side: it is one tile or cheap to make.
  private func picture(_ entry: CatalogEntry, side: Int) -> JSONValue {
    guard let pyramid = entry.pyramid else { return [:] }
    var level = pyramid.topLevel
    while max(pyramid.size(ofLevel: level).width, pyramid.size(ofLevel: level).height) > side { level -= 1 }
    let size = pyramid.size(ofLevel: level)
    let service = IIIFRequest.folder(.three, ofID: PercentEncoding.encode(entry.id.text), base: base)
    let name = PathText.string {
      let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
      IIIFTileName.write(whole, level: level, of: pyramid, .three, .jpeg, &$0)
    }
    return [
      "id": "\(service)/\(name)", "type": "Image", "format": "image/jpeg",
      "width": .integer(size.width), "height": .integer(size.height),
      "service": [["id": .text(service), "type": "ImageService3", "profile": "level2"]],
    ]
  }

  static func title(_ entry: CatalogEntry) -> String { entry.metadata.title ?? entry.id.name }

  static func text(_ text: String) -> JSONValue { ["none": [.text(plain(text))]] }

  /// A viewer takes a value from `<` to `>` for HTML, unless white space follows (Presentation 3.0, section
  /// 4.5): nobody's words are.
  private static func plain(_ text: String) -> String {
    text.hasPrefix("<") && text.hasSuffix(">") ? text + " " : text
  }
}
