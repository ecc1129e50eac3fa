import Foundation
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratText

/// An image in a listing, with the requested members.
struct ListedItem: Encodable {
  /// The members of each image in a listing.
  enum Fields: Hashable {
    /// The members that a gallery needs.
    case usual
    /// All members, as in responses about one image.
    case all
    /// The named members and the id.
    case some(Set<String>)

    /// All member names, from the API description.
    static let names: [String] = {
      let file = try? JSONDecoder().decode(JSONValue.self, from: Data(PackageResources.openapi_json))
      let image = file?["components"]?["schemas"]?["Image"]?["properties"]?.members ?? [:]
      return image.keys.sorted()
    }()
  }

  private let image: ImageDescription
  private let fields: Fields

  init(_ image: ImageDescription, _ fields: Fields) {
    self.image = image
    self.fields = fields
  }

  /// About 200 bytes: enough to lay out the image and to request its tiles.
  private struct Usual: Encodable {
    let id: String
    let isBook: Bool?
    let cover: String?
    let book: String?
    let label: String?
    let title: String
    let date: String?
    let animated: Bool?
    let width: Int
    let height: Int
    let tileSize: Int
    let overlap: Int
    let format: String
    let generation: String
    let pages: Int
    let page: Int?
    let urls: [String: String]

    init(_ image: ImageDescription) {
      id = image.id.text
      title = image.title
      width = image.width
      height = image.height
      tileSize = image.tileSize
      overlap = image.overlap
      format = image.format
      generation = image.generation
      pages = image.pages
      page = image.page
      date = image.date
      animated = image.animated
      isBook = image.isBook
      cover = image.cover?.text
      book = image.book?.text
      label = image.label
      urls = image.urls.filter { $0.key == "dzi" }
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch fields {
    case .usual: try Usual(image).encode(to: encoder)
    case .all: try image.encode(to: encoder)
    case .some(let names):
      let whole = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(image)).members ?? [:]
      try whole.filter { $0.key == "id" || names.contains($0.key) }.encode(to: encoder)
    }
  }
}
