package import ZigguratTileProtocols

/// The route of a path and query, parsed once from their bytes.
package enum Route: Sendable {
  case tiles(TileRequest)
  case presentation(PresentationRequest)
  case api(APIRequest)
  /// The viewer's page of the image with the id at that position.
  case view(Range<Int>)
  /// The standalone viewer of the image with the id at that position; `nil` for the page that demonstrates
  /// embedding.
  case embed(Range<Int>?)
  /// The oEmbed representation of an image's page.
  case oEmbed
  case openAPI, health, metrics
  /// The files of the page, and all other paths.
  case page

  /// - Parameter path: the path as sent or normalized.
  init(_ path: RawPath) {
    if let request = TileRequest(path) {
      self = .tiles(request)
    } else if let request = APIRequest(path) {
      self = .api(request)
    } else if let request = PresentationRequest(path) {
      self = .presentation(request)
    } else if path.starts(with: "/view/") {
      self = .view(6..<path.count)
    } else if path.starts(with: "/embed/"), path.count > 7 {
      self = .embed(7..<path.count)
    } else if path.isPart("/embed", from: 0, to: path.count) {
      self = .embed(nil)
    } else if path.isPart("/oembed", from: 0, to: path.count) {
      self = .oEmbed
    } else if path.isPart("/openapi.json", from: 0, to: path.count) {
      self = .openAPI
    } else if path.isPart("/healthz", from: 0, to: path.count) {
      self = .health
    } else if path.isPart("/metrics", from: 0, to: path.count) {
      self = .metrics
    } else {
      self = .page
    }
  }

  /// - Parameters:
  ///   - path: the path as sent.
  ///   - query: the query as sent, one byte after the path.
  package init(_ path: UnsafeRawBufferPointer, query: UnsafeRawBufferPointer) {
    self.init(RawPath(path, query: query))
  }

  /// Whether the response needs the catalog. Its queries may block, which an event loop must not.
  var isOfCatalog: Bool {
    switch self {
    case .presentation, .api(.images), .api(.trash): true
    case .tiles, .api, .view, .embed, .oEmbed, .openAPI, .health, .metrics, .page: false
    }
  }

  /// Whether the listener for monitors serves the route.
  package var isForMonitors: Bool {
    switch self {
    case .health, .metrics: true
    case .tiles, .presentation, .api, .view, .embed, .oEmbed, .openAPI, .page: false
    }
  }

  /// The labels of routes in metrics.
  static let labels = TileRequest.labels + ["presentation", "api", "page", "healthz", "metrics"]

  /// The index in `labels` under which the request is counted.
  package var label: Int {
    let first = TileRequest.labels.count
    return switch self {
    case .tiles(let request): request.label
    case .presentation: first
    case .api: first + 1
    case .view, .embed, .oEmbed, .openAPI, .page: first + 2
    case .health: first + 3
    case .metrics: first + 4
    }
  }
}

/// A resource of IIIF Presentation 3.0 below `/iiif/presentation/3/`, or a manifest of 2.1 below
/// `/iiif/presentation/2/`.
package enum PresentationRequest: Sendable {
  /// - Parameter id: the position of the id of the image or book.
  case manifest(id: Range<Int>, IIIFVersion)
  /// - Parameters:
  ///   - folder: the position of the folder's id; `nil` for the whole library.
  ///   - page: the page number from 1; `nil` for the folder itself.
  case collection(folder: Range<Int>?, page: Int?)
  case nothing

  init?(_ path: RawPath) {
    let start = 21
    let isOld = path.starts(with: "/iiif/presentation/2/")
    guard isOld || path.starts(with: "/iiif/presentation/3/") else { return nil }
    let last = path.slash(before: path.count, from: start)
    if let last, Self.isManifest(path, from: last + 1) {
      self = .manifest(id: start..<last, isOld ? .two : .three)
    } else if isOld {
      self = .nothing
    } else if let collection = Self.collection(path, from: start, to: path.count, page: nil) {
      self = collection
    } else if let last, let page = path.number(last + 1..<path.count),
      let collection = Self.collection(path, from: start, to: last, page: page)
    {
      self = collection
    } else {
      self = .nothing
    }
  }

  /// Whether the path ends in a manifest's name. Some viewers recognize a manifest by its suffix.
  private static func isManifest(_ path: RawPath, from start: Int) -> Bool {
    path.isPart("manifest", from: start, to: path.count)
      || path.isPart("manifest.json", from: start, to: path.count)
  }

  private static func collection(_ path: RawPath, from start: Int, to end: Int, page: Int?) -> Self? {
    if path.isPart("collection", from: start, to: end) { return .collection(folder: nil, page: page) }
    guard let folder = path.slash(before: end, from: start),
      path.isPart("collection", from: folder + 1, to: end)
    else { return nil }
    return .collection(folder: start..<folder, page: page)
  }
}
