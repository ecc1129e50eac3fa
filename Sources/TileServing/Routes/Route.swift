package import TileProtocols

/// What a path and its query ask for, parsed once from their bytes.
package enum Route: Sendable {
  case tiles(TileRequest)
  case presentation(PresentationRequest)
  case api(APIRequest)
  /// The viewer's page of the image whose id stands there.
  case view(Range<Int>)
  case openAPI, health, metrics
  /// The page's own files, and whatever is nothing else.
  case page

  /// - Parameter path: as sent, or in one spelling.
  init(_ path: RawPath) {
    if let request = TileRequest(path) {
      self = .tiles(request)
    } else if let request = APIRequest(path) {
      self = .api(request)
    } else if let request = PresentationRequest(path) {
      self = .presentation(request)
    } else if path.starts(with: "/view/") {
      self = .view(6..<path.count)
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
  ///   - path: as sent.
  ///   - query: as sent, one byte behind the path.
  package init(_ path: UnsafeRawBufferPointer, query: UnsafeRawBufferPointer) {
    self.init(RawPath(path, query: query))
  }

  /// Whether only the catalog knows the answer: it may take its time, and an event loop has none.
  var isOfCatalog: Bool {
    switch self {
    case .presentation, .api(.images), .api(.deleted): true
    case .tiles, .api, .view, .openAPI, .health, .metrics, .page: false
    }
  }

  /// Whether it is answered where monitors ask, and nothing else is.
  package var isForMonitors: Bool {
    switch self {
    case .health, .metrics: true
    case .tiles, .presentation, .api, .view, .openAPI, .page: false
    }
  }

  /// What requests are counted as.
  static let labels = TileRequest.labels + ["presentation", "api", "page", "healthz", "metrics"]

  /// Which of `labels` the request is counted as.
  package var label: Int {
    let first = TileRequest.labels.count
    return switch self {
    case .tiles(let request): request.label
    case .presentation: first
    case .api: first + 1
    case .view, .openAPI, .page: first + 2
    case .health: first + 3
    case .metrics: first + 4
    }
  }
}

/// A part of IIIF Presentation 3.0, below `/iiif/presentation/3/`.
package enum PresentationRequest: Sendable {
  /// - Parameter id: where the image's or book's id stands.
  case manifest(id: Range<Int>)
  /// - Parameter page: nil for the whole library.
  case collection(page: Int?)
  case nothing

  init?(_ path: RawPath) {
    let start = 21
    guard path.starts(with: "/iiif/presentation/3/") else { return nil }
    if let file = path.slash(before: path.count, from: start),
      path.isPart("manifest", from: file + 1, to: path.count)
    {
      self = .manifest(id: start..<file)
    } else if path.isPart("collection", from: start, to: path.count) {
      self = .collection(page: nil)
    } else if path.has("collection/", at: start), let page = path.number(start + 11..<path.count) {
      self = .collection(page: page)
    } else {
      self = .nothing
    }
  }
}
