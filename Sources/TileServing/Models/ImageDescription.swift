import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

/// The JSON of an image in `/api/images` and `/api/images/{id}`.
struct ImageDescription: Encodable {
  struct Level: Encodable {
    let width: Int
    let height: Int
    let columns: Int
    let rows: Int
  }

  /// The animation of an image. Only in responses about one image, because listings do not open archives.
  struct Animation: Encodable {
    let frames: Int
    let type: String
    let url: String
  }

  /// The original file of an image. Only in responses about one image, for principals that may download it.
  struct Original: Encodable {
    let bytes: Int
    let type: String
    let url: String
  }

  let id: ImageReference
  /// Whether it is a book, whose other members describe its cover; absent otherwise.
  let isBook: Bool?
  /// The id of the book's first page.
  let cover: ImageReference?
  /// The id of the book that the image is a page of.
  let book: ImageReference?
  /// The title of that book, if it has one; only in responses about one page.
  var bookTitle: String?
  /// The viewing direction of the book, or of the page's book. Only in responses about one image.
  var viewingDirection: String?
  /// The page's label in its book.
  let label: String?
  let title: String
  /// Titles by language tag, if languages are known.
  let titles: [String: String]?
  let caption: String?
  /// All creators in one line.
  let creator: String?
  let creators: [String]?
  /// ISO 8601, with as many parts as are known.
  let date: String?
  /// The place that the image shows.
  let location: String?
  let rights: String?
  /// URLs with the scheme http or https.
  let license: String?
  let webStatement: String?
  let usageTerms: String?
  let identifier: String?
  let source: String?
  let credit: String?
  let keywords: [String]
  let width: Int
  let height: Int
  let tileSize: Int
  let overlap: Int
  let format: String
  let levels: [Level]
  /// The number of pages of the book, or of the page's book; 1 for other images.
  let pages: Int
  /// The page's number in its book, from 1.
  let page: Int?
  /// The size of the archive; absent if the tiles are separate files.
  let bytes: Int?
  let micronsPerPixel: Double?
  /// The dimensions of a stack. Only in responses about one image.
  var dimensions: ImageDimensions?
  var animation: Animation?
  var original: Original?
  /// Whether the picture is animated; absent if not.
  let animated: Bool?
  /// The version of the archive, the value of `?v=` in URLs.
  let generation: String
  let urls: [String: String]

  /// Describes a single image, or a book by its cover. Returns nil for an unreadable archive.
  init?(item found: FoundEntry, base: String) {
    guard found.book != nil, let cover = found.entry.cover else {
      self.init(found, pages: 1, base: base)
      return
    }
    self.init(found, pages: cover.pages, base: base, isBook: true)
  }

  /// Describes an image, which may be a page of a book. Returns nil for an unreadable archive.
  init?(_ found: FoundEntry, pages: Int, base: String) {
    self.init(found, pages: pages, base: base, isBook: false)
  }

  private init?(_ found: FoundEntry, pages: Int, base: String, isBook: Bool) {
    let entry = found.entry
    guard let pyramid = entry.pyramid else { return nil }
    id = (isBook ? found.book : nil) ?? found.reference
    self.isBook = isBook ? true : nil
    cover = isBook ? found.reference : nil
    book = isBook ? nil : found.book
    label = isBook ? nil : entry.label
    let metadata = entry.metadata
    title = (isBook ? entry.cover?.title : metadata.title) ?? id.id.name
    titles = metadata.titles.isEmpty || isBook && entry.cover?.title == nil ? nil : metadata.titles
    caption = metadata.caption
    creator = metadata.creator
    date = metadata.date
    creators = metadata.creators.isEmpty ? nil : metadata.creators
    license = metadata.license
    webStatement = metadata.webStatement
    usageTerms = metadata.usageTerms
    identifier = metadata.identifier
    source = metadata.source
    credit = metadata.credit
    location = metadata.place
    rights = metadata.rights
    keywords = metadata.keywords
    width = pyramid.imageSize.width
    height = pyramid.imageSize.height
    tileSize = pyramid.tileSize
    overlap = pyramid.overlap
    format = entry.format
    levels = (0..<pyramid.levelCount).map { level in
      let size = pyramid.size(ofLevel: level)
      return Level(
        width: size.width, height: size.height, columns: pyramid.columns(ofLevel: level),
        rows: pyramid.rows(ofLevel: level))
    }
    self.pages = pages
    page = isBook ? nil : entry.page
    micronsPerPixel = entry.micronsPerPixel
    bytes = entry.bytes
    animated = entry.isMoving ? true : nil
    generation = String(entry.generation, radix: 16)
    let (own, segment) = (PercentEncoding.encode(id.text), PercentEncoding.encode(found.reference.text))
    var urls = [
      "self": "\(base)/api/images/\(own)", "view": "\(base)/view/\(own)",
      "viewport": "\(base)/api/images/\(segment)/viewport",
      "viewportTiles": "\(base)/api/images/\(segment)/viewport.tiles",
      "manifest": PresentationManifest.url(of: id, base: base),
      "manifest2": PresentationManifest.url(of: id, base: base, version: .two),
    ]
    for (name, url) in TileRequest.urls(ofID: segment, base: base, ending: format) { urls[name] = url }
    self.urls = urls
  }
}
