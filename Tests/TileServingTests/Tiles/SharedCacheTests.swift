import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTestSupport

@testable import ZigguratTileServing

/// Headers for a shared cache in front of the server.
@Suite struct SharedCacheTests {
  private static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!
  private static let momentary = "public, max-age=0, must-revalidate, s-maxage=2, stale-if-error=600"
  private static let immutable = "public, max-age=31536000, immutable, s-maxage=86400, stale-if-error=600"

  private struct Source: LibrarySource {
    let path: String

    func version() throws(StorageError) -> Int { 1 }

    func images() throws(StorageError) -> [SourceImage] {
      ["one", "a/b c"].map { (name: String) in
        SourceImage(id: ImageID(name)!, path: path) {
          TileArchive(inMemory: SharedCacheTests.pyramid) { Array("tile \($0)".utf8) }
        }
      }
    }
  }

  private let folder = try! TemporaryFolder()
  private static let key = PurgeKey.make()

  private func site(isBehindEdge: Bool = true, maxAge: Int = 0) throws -> TileServer {
    var access = TileServerConfiguration()
    (access.surrogateSeed, access.tileMaxAge) = (isBehindEdge ? Self.key.seed : nil, maxAge)
    let library = try ListRepository(Source(path: folder.path), name: "edge")
    return try TileServer(library: library, publicFolder: nil, access: access)
  }

  /// The headers of a stored tile, by the way that knows no strings; nil where that does not have it.
  private func hit(_ site: TileServer, _ path: String, query: String = "") -> [String: String]? {
    // In one piece, as in a request.
    let target = Array("\(path)?\(query)".utf8)
    return target.withUnsafeBytes { target -> [String: String]? in
      let path = UnsafeRawBufferPointer(rebasing: target[..<path.utf8.count])
      let query = UnsafeRawBufferPointer(rebasing: target[(path.count + 1)...])
      guard case .found(let tile) = site.tile(Route(path, query: query), path, query: query, cookies: { nil })
      else { return nil }
      defer { tile.archive.release() }
      var headers: [String: String] = [:]
      guard case .tile(let head) = site.answer(tile, query, Conditions(isGet: true), { _ in nil }) else {
        return nil
      }
      site.addHeaders(head, tile, query, { _ in nil }) { headers[String(cString: $0)] = String(cString: $1) }
      return headers
    }
  }

  private func ask(_ site: TileServer, _ path: String, query: String = "") -> Response? {
    let request = Request(method: "GET", rawPath: Array(path.utf8), query: Array(query.utf8)) { _ in nil }
    guard case .response(let response) = site.respond(to: RoutedRequest(request)) else { return nil }
    return response
  }

  private func generation(_ site: TileServer) throws -> String {
    String(try #require(try site.library.archive("one")).generation, radix: 16)
  }

  @Test(
    "only the current generation makes a tile immutable",
    arguments: [
      ("", false), ("v=", false), ("v=1", false), ("v=zz", false), ("h=GENERATION", false), ("v", false),
      ("v=1&v=GENERATION", false), ("%76=GENERATION", false), ("v=GENERATION0", false),
      ("V=GENERATION", false),
      ("v=GENERATION", true), ("from=here&v=GENERATION", true), ("v=GENERATION&from=here", true),
      // As version 0.1 called it.
      ("g=GENERATION", true), ("from=here&g=GENERATION", true), ("g=GENERATION0", false), ("g", false),
      ("v=1&g=GENERATION", false), ("g=GENERATION&v=1", true),
    ])
  func immutability(_ query: String, _ isImmutable: Bool) throws {
    let site = try site()
    let query = query.replacing("GENERATION", with: try generation(site))
    let headers = try #require(hit(site, "/dzi/one_files/6/1_0.jpg", query: query))
    #expect(headers["Cache-Control"] == (isImmutable ? Self.immutable : Self.momentary))
    #expect(headers["X-Accel-Expires"] == (isImmutable ? nil : "1"))
  }

  @Test func `every response about an image has its key, for every spelling of its id`() throws {
    let site = try site()
    let key = SurrogateKey(of: "a/b c", Self.key.seed).text
    #expect(key.wholeMatch(of: /[0-9a-f]{16}/) != nil && key != SurrogateKey(of: "one", Self.key.seed).text)
    for path in [
      "/dzi/a%2Fb%20c_files/6/1_0.jpg", "/dzi/%61%2fb%20c_files/6/1_0.jpg", "/dzi/a/b%20c_files/6/1_0.jpg",
    ] {
      #expect(hit(site, path)?["Surrogate-Key"] == key, "\(path)")
    }
    for path in [
      "/dzi/a%2Fb%20c.dzi", "/dzi/a/b%20c.dzi", "/iiif/3/a%2Fb%20c/info.json", "/xyz/a%2Fb%20c/tilejson.json",
    ] {
      let response = try #require(ask(site, path))
      #expect(response["Surrogate-Key"] == key, "\(path)")
      #expect(response["Cache-Control"] == "public, max-age=10, s-maxage=2, stale-if-error=600", "\(path)")
    }
    #expect(ask(site, "/dzi/one.dzi")?["X-Accel-Expires"] == "1")
    let viewport = ask(site, "/api/images/a%2Fb%20c/viewport", query: "width=30&height=20")
    #expect(viewport?["Surrogate-Key"] == key)
  }

  @Test func `other responses and errors have no key`() throws {
    let site = try site()
    for (path, status) in [
      ("/dzi/none.dzi", 404), ("/dzi/one_files/6/9_9.jpg", 404), ("/healthz", 200), ("/openapi.json", 200),
    ] {
      let response = try #require(ask(site, path))
      #expect(response.status == status)
      #expect(response["Surrogate-Key"] == nil, "\(path)")
      #expect(response["Cache-Control"]?.contains("immutable") == false, "\(path)")
    }
  }

  @Test func `without a shared cache, no header addresses one`() throws {
    let site = try site(isBehindEdge: false)
    let generation = try generation(site)
    for (query, header) in [
      ("", "public, no-cache"), ("v=\(generation)", "public, max-age=31536000, immutable"),
    ] {
      let headers = try #require(hit(site, "/dzi/one_files/6/1_0.jpg", query: query))
      #expect(headers["Cache-Control"] == header)
      #expect(headers["Surrogate-Key"] == nil && headers["X-Accel-Expires"] == nil)
    }
    let document = ask(site, "/dzi/one.dzi")
    #expect(document?["Cache-Control"] == "public, max-age=10" && document?["Surrogate-Key"] == nil)
  }

  @Test func `a longer browser lifetime does not extend that of the cache`() throws {
    let headers = try #require(hit(try site(maxAge: 600), "/dzi/one_files/6/1_0.jpg"))
    #expect(headers["Cache-Control"] == "public, max-age=600, s-maxage=2, stale-if-error=600")
  }
}
