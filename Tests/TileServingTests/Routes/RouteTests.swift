import Testing
import ZigguratTileProtocols

@testable import ZigguratTileServing

/// The routes of paths.
struct RouteTests {
  private static func route(_ path: String) -> Route {
    Array(path.utf8).withUnsafeBytes { Route(RawPath($0)) }
  }

  /// The route's name and, of those that have one, the part of the path that it names.
  private static func description(_ path: String) -> String {
    func part(_ range: Range<Int>) -> String { String(decoding: Array(path.utf8)[range], as: UTF8.self) }
    return switch route(path) {
    case .tiles: "tiles"
    case .presentation(.manifest(let id, .three)): "manifest \(part(id))"
    case .presentation(.manifest(let id, .two)): "old manifest \(part(id))"
    case .presentation(.collection(let folder, let page)):
      "collection \(folder.map(part) ?? "-") \(page.map(String.init) ?? "-")"
    case .presentation(.nothing): "presentation"
    case .api(.session): "session"
    case .api(.images): "images"
    case .api(.image(let image)):
      switch image.question {
      case .viewport: "viewport \(part(image.id))"
      case .viewportTiles: "tiles of \(part(image.id))"
      case .viewportPicture(let ending): "\(part(ending)) of \(part(image.id))"
      case .animation: "animation \(part(image.id))"
      case .original: "original \(part(image.id))"
      case .move: "move \(part(image.id))"
      case .copies: "copies \(part(image.id))"
      case nil: "image \(part(image.whole))"
      }
    case .api(.trash): "trash"
    case .api(.restore(let deletion)): "restore \(part(deletion))"
    case .api(.uploads): "uploads"
    case .api(.upload(let id)): "upload \(id.map(part) ?? "-")"
    case .api(.events): "events"
    case .api(.pairing): "pairing"
    case .api(.version): "version"
    case .api(.nothing): "api"
    case .view(let id): "view \(part(id))"
    case .embed(let id): "embed \(id.map(part) ?? "-")"
    case .oEmbed: "oembed"
    case .openAPI: "openapi"
    case .health: "healthz"
    case .metrics: "metrics"
    case .page: "page"
    }
  }

  @Test(
    "every path has one route",
    arguments: [
      ("/dzi/a.dzi", "tiles"), ("/iiif/3/a", "tiles"), ("/iiif/presentation/3/a/b/manifest", "manifest a/b"),
      ("/iiif/presentation/3/collection", "collection - -"),
      ("/iiif/presentation/3/collection/2", "collection - 2"),
      ("/iiif/presentation/3/a%2Fb/collection", "collection a%2Fb -"),
      ("/iiif/presentation/3/a/b/collection/12", "collection a/b 12"),
      ("/iiif/presentation/3/collection/collection", "collection collection -"),
      ("/iiif/presentation/3/collection/collection/3", "collection collection 3"),
      ("/iiif/presentation/3/2/collection", "collection 2 -"),
      ("/iiif/presentation/3/~/collection", "collection ~ -"),
      ("/iiif/presentation/3//collection", "collection  -"),
      ("/iiif/presentation/3/a/collections", "presentation"),
      ("/iiif/presentation/3/a/collection/1/2", "presentation"),
      ("/iiif/presentation/3/collection/02", "presentation"),
      ("/iiif/presentation/3/collection/", "presentation"),
      ("/iiif/presentation/3/collection/manifest", "manifest collection"),
      ("/iiif/presentation/3/", "presentation"),
      ("/iiif/presentation/3", "page"), ("/iiif/presentation/2/a/manifest", "old manifest a"),
      ("/iiif/presentation/2/a%2Fb/manifest.json", "old manifest a%2Fb"),
      ("/iiif/presentation/3/a/manifest.json", "manifest a"),
      ("/iiif/presentation/2/collection", "presentation"),
      ("/iiif/presentation/1/a/manifest", "page"), ("/iiif", "page"),
      ("/api/images", "images"), ("/api/images/", "image "), ("/api/images/a/b", "image a/b"),
      ("/api/imagesx", "api"),
      ("/api/images/a/viewport", "viewport a"), ("/api/images/a/b/viewport.tiles", "tiles of a/b"),
      ("/api/images/a/viewport.jpg", "jpg of a"), ("/api/images/a/viewport.", " of a"),
      ("/api/images/viewport", "image viewport"), ("/api/images/a%2Fviewport", "image a%2Fviewport"),
      ("/api/images/a/viewports", "image a/viewports"), ("/api/images/a/animation", "animation a"),
      ("/api/images/a/copies", "copies a"), ("/api/images/copies", "image copies"),
      ("/api/images/a/move", "move a"), ("/api/images/move", "image move"), ("/api/session", "session"),
      ("/api/session/", "api"), ("/api/events", "events"), ("/api/events/x", "api"),
      ("/api/pairing.svg", "pairing"), ("/api/version", "version"), ("/api/version/", "api"),
      ("/api/qr.svg", "pairing"),
      ("/api/trash", "trash"), ("/api/trash/", "api"), ("/api/trash/x/restore", "restore x"),
      ("/api/trash/x/y/restore", "api"), ("/api/trash/x", "api"), ("/api/trash/restore", "api"),
      ("/api/trash/x/restored", "api"), ("/api/trashx", "api"), ("/api/trash//restore", "restore "),
      ("/api/deleted", "trash"), ("/api/deleted/", "api"), ("/api/deleted/x/restore", "restore x"),
      ("/api/deleted/x/y/restore", "api"), ("/api/deleted/x", "api"), ("/api/deleted/restore", "api"),
      ("/api/uploads", "uploads"), ("/api/uploads/", "upload "), ("/api/uploads/x", "upload x"),
      ("/api/uploads/x/y", "upload -"), ("/api/uploadsx", "api"), ("/api/", "api"), ("/api", "page"),
      ("/view/a/b", "view a/b"), ("/view/", "view "), ("/view", "page"), ("/openapi.json", "openapi"),
      ("/embed/a/b", "embed a/b"), ("/embed/", "page"), ("/embed", "embed -"), ("/embedded", "page"),
      ("/oembed", "oembed"), ("/oembed/", "page"),
      ("/openapi.json/", "page"), ("/healthz", "healthz"), ("/healthz/", "page"), ("/metrics", "metrics"),
      ("/iip", "tiles"), ("/iip/", "page"), ("/metricsx", "page"), ("/", "page"), ("", "page"),
      ("/index.html", "page"),
    ])
  func readings(path: String, description: String) { #expect(Self.description(path) == description) }

  @Test(
    "each route has its label",
    arguments: [
      ("/dzi/a.dzi", "dzi"), ("/xyz/a", "xyz"), ("/zoomify/a", "zoomify"), ("/iiif/2/a", "iiif2"),
      ("/iiif/3/a", "iiif3"), ("/iip", "iip"), ("/iiif/presentation/3/a", "presentation"), ("/api/x", "api"),
      ("/nothing", "page"),
      ("/view/a", "page"), ("/embed/a", "page"), ("/oembed", "page"), ("/healthz", "healthz"),
      ("/metrics", "metrics"),
    ])
  func labels(path: String, label: String) { #expect(Route.labels[Self.route(path).label] == label) }

  @Test("only routes that need the catalog wait for it")
  func waiting() {
    for path in ["/api/images", "/api/trash", "/iiif/presentation/3/collection"] {
      #expect(Self.route(path).isOfCatalog)
    }
    for path in ["/api/images/a", "/api/uploads", "/dzi/a.dzi", "/", "/metrics", "/view/a"] {
      #expect(!Self.route(path).isOfCatalog)
    }
  }

  @Test(
    "paths are normalized",
    arguments: [
      ("/dzi/photo%5Ffiles/12/0%5F0.jpg", "/dzi/photo_files/12/0_0.jpg"),
      ("/%64zi/a%2fb.dzi", "/dzi/a%2Fb.dzi"),
      ("/iiif/3/x/0%2C0%2C5%2C5/%5Emax/0/default.jpg", "/iiif/3/x/0,0,5,5/^max/0/default.jpg"),
      ("/a%25b", "/a%25b"), ("/%c3%bc", "/ü"), ("//a//", "//a//"),
    ])
  func spelling(sent: String, spelled: String) throws {
    #expect(try NormalizedPath(Array(sent.utf8)).bytes == Array(spelled.utf8))
  }

  @Test(
    "queries are normalized",
    arguments: [
      ("a=1&b", "a=1&b"), ("a=%31%2C2+3", "a=1,2 3"), ("a=b%26c%2Bd%2fe%25", "a=b%26c%2Bd%2Fe%25"),
      ("a=%zz+%", "a=%zz+%"), ("a=%ff", "a=%ff"),
    ])
  func query(sent: String, spelled: String) throws {
    let path = try NormalizedPath(Array("/x%2Cy".utf8), query: Array(sent.utf8))
    #expect(path.bytes == Array("/x,y?\(spelled)".utf8))
    path.withRawPath {
      #expect($0.count == 4)
      #expect(Array($0.bytes($0.query)) == Array(spelled.utf8))
    }
  }

  @Test("a query starts one byte after the path")
  func behind() {
    Array("/a?b=c".utf8).withUnsafeBytes { all in
      func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: all[range])
      }
      #expect(RawPath(part(0..<2), query: part(3..<6)).query == 3..<6)
      #expect(RawPath(part(0..<2), query: part(2..<2)).query.isEmpty)
      #expect(RawPath(part(0..<1), query: part(3..<6)).query.isEmpty)
      #expect(RawPath(part(0..<2)).query.isEmpty)
    }
  }

  @Test(
    "invalid paths are rejected",
    arguments: [
      ("", 400), ("a", 400), ("/%", 400), ("/%2", 400), ("/%zz", 400), ("/%00", 400), ("/a\0", 400),
      ("/%ff", 400), ("/%ed%a0%80", 400), ("/..", 404), ("/a/./b", 404), ("/%2e%2e/x", 404), ("/.%2e", 404),
    ])
  func refused(path: String, status: Int) {
    let refusal = #expect(throws: NormalizedPath.ValidationError.self) {
      try NormalizedPath(Array(path.utf8))
    }
    #expect(refusal?.status == status)
  }
}
