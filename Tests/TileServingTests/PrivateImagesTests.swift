import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratRepositorySupport
import ZigguratTestSupport

@testable import ZigguratImageLibrary
@testable import ZigguratTileServing

/// Handlers over a library and a private space that have images of the same ids.
@Suite struct PrivateImagesTests {
  private let images: ImageAccess
  private let owner: Principal

  /// An archive whose width says which image it is.
  private static func archive(width: Int) throws -> TileArchive {
    let pyramid = try #require(
      PixelSize(width: width, height: 24).flatMap { Pyramid(imageSize: $0, tileSize: 16) })
    return TileArchive(inMemory: pyramid) { Array("tile \($0)".utf8) }
  }

  init() throws {
    let library = try InMemoryRepository([
      "one": Self.archive(width: 10), "shelf/two": Self.archive(width: 20),
    ])
    let own = try [("one", 30), ("box/one", 40), ("box/three", 50)].map { (name, width) in
      let (id, archive) = (ImageID(stringLiteral: name), try Self.archive(width: width))
      let identity = FileIdentity(inode: UInt64(width), size: 1, modifiedNanoseconds: 0)
      return SourceImage(id: id, path: name, identity: identity) { archive }
    }
    let space = try SpaceLibrary(SessionTableTests.FixedSpace("x", own))
    try space.library.updateCatalog()
    var session = Session()
    session.space = space
    owner = Principal(session, isWritable: true)
    images = ImageAccess(
      library: library, catalogQueue: BlockingQueue(capacity: 4), metadataQueue: BlockingQueue(capacity: 4),
      originalQueue: BlockingQueue(capacity: 4), surrogateSeed: nil,
      cacheControl: CacheControlHeaders(maxAge: 0))
  }

  private func call(_ target: String, _ principal: Principal) throws -> RequestContext {
    let parts = target.split(separator: "?", maxSplits: 1).map { Array($0.utf8) }
    let request = Request(method: "GET", rawPath: parts[0], query: parts.count > 1 ? parts[1] : []) { _ in nil
    }
    let sessions = SessionTable(limits: SessionTable.Limits(), now: { 0 })
    return RequestContext(
      request, try NormalizedPath(request.rawPath, query: request.query), principal: principal,
      at: ServerAddress("https://example.org/"),
      Authentication(sessions, TileServerConfiguration(), OwnScheme()))
  }

  private static func object(_ response: Response) throws -> [String: Any] {
    guard case .bytes(let bytes) = response.body else { return [:] }
    return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
  }

  private func description(_ reference: ImageReference, _ principal: Principal) async throws -> Response {
    let handler = DescriptionHandler(
      context: try call("/api/images/x", principal), images: images,
      originals: OriginalAccess(isOpen: false, uploads: nil))
    return await handler.reply(reference).response()
  }

  @Test func `one id is a different image in each repository`() async throws {
    for (reference, width) in [("one", 10), ("~/one", 30)] as [(ImageReference, Int)] {
      let found = try Self.object(await description(reference, owner))
      #expect(found["id"] as? String == reference.text && found["width"] as? Int == width)
      let urls = try #require(found["urls"] as? [String: String])
      #expect(urls["self"]?.hasSuffix("/api/images/\(PercentEncoding.encode(reference.text))") == true)
    }
  }

  @Test func `a principal without the space finds none of its images`() async throws {
    for reference in ["~/one", "~/box/three", "~/none"] as [ImageReference] {
      #expect(try await description(reference, .anyone).status == 404)
    }
    #expect(try await description("one", .anyone).status == 200)
  }

  private func list(_ query: String, _ principal: Principal) throws -> [String: Any] {
    let handler = ListHandler(
      context: try call("/api/images?\(query)", principal), images: images, isWritable: true)
    return try Self.object(handler.list())
  }

  private static func ids(_ page: [String: Any]) -> [String] {
    (page["images"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
  }

  @Test(arguments: 1...6)
  func `a listing has the space before the library, page by page`(limit: Int) throws {
    var (all, query): ([String], String?) = ([], "limit=\(limit)")
    while let next = query {
      let page = try list(next, owner)
      #expect(page["total"] as? Int == 5)
      all += Self.ids(page)
      #expect(all.count <= 5)
      query = (page["nextCursor"] as? String).map { "limit=\(limit)&cursor=\(PercentEncoding.encode($0))" }
    }
    #expect(all == ["~/box/one", "~/box/three", "~/one", "one", "shelf/two"])
    #expect(Self.ids(try list("limit=\(limit)", .anyone)).allSatisfy { !$0.hasPrefix("~") })
  }

  @Test func `a folder is of one repository`() throws {
    #expect(try list("", owner)["folders"] as? [String] == ["~/box", "shelf"])
    #expect(try list("", .anyone)["folders"] as? [String] == ["shelf"])
    for (folder, ids) in [
      ("~%2Fbox", ["~/box/one", "~/box/three"]), ("~/box/", ["~/box/one", "~/box/three"]), ("box", []),
      ("shelf", ["shelf/two"]), ("~/shelf", []), ("~", []),
    ] {
      let page = try list("folder=\(folder)", owner)
      #expect(Self.ids(page) == ids && page["total"] as? Int == ids.count, "\(folder)")
    }
    let unseen = try list("folder=~/box", .anyone)
    #expect(Self.ids(unseen) == [] && unseen["total"] as? Int == 0 && unseen["folders"] as? [String] == [])
    // The cursor of a space that is locked by now.
    let page = try list("limit=1", owner)
    let cursor = try #require(page["nextCursor"] as? String)
    #expect(cursor.hasPrefix("~/"))
    let rest = try list("cursor=\(PercentEncoding.encode(cursor))", .anyone)
    #expect(Self.ids(rest) == ["one", "shelf/two"])
  }

  private func presentation(_ path: String, _ principal: Principal) async throws -> Response {
    let context = try call("/iiif/presentation/3/\(path)", principal)
    guard case .presentation(let request) = context.path.route else { return .text(404, "") }
    return await PresentationHandler(context: context, images: images, identity: SiteIdentity()).reply(
      request
    )
    .response()
  }

  @Test func `collections lead from the library into the space and back`() async throws {
    func collection(_ path: String) async throws -> [String: Any] {
      try Self.object(await presentation(path, owner))
    }
    let top = "https://example.org/iiif/presentation/3"
    func ids(_ collection: [String: Any], _ member: String) -> [String] {
      (collection[member] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }
    let library = try await collection("collection")
    #expect(
      ids(library, "items") == ["\(top)/~/collection", "\(top)/shelf/collection", "\(top)/one/manifest"])
    #expect(library["partOf"] == nil)
    let space = try await collection("~/collection")
    #expect(ids(space, "items") == ["\(top)/~%2Fbox/collection", "\(top)/~%2Fone/manifest"])
    #expect(ids(space, "partOf") == ["\(top)/collection"] && space["seeAlso"] == nil)
    #expect(space["label"] as? [String: [String]] == ["none": ["Private"]])
    let box = try await collection("~%2Fbox/collection")
    #expect(ids(box, "items") == ["\(top)/~%2Fbox%2Fone/manifest", "\(top)/~%2Fbox%2Fthree/manifest"])
    #expect(ids(box, "partOf") == ["\(top)/~/collection"])
    #expect(ids(box, "seeAlso") == ["https://example.org/api/images?folder=~%2Fbox"])
    #expect(ids(try await collection("~%2Fone/manifest"), "partOf") == ["\(top)/~/collection"])
    for path in ["~/collection", "~%2Fbox/collection", "~%2Fone/manifest", "~%2F/collection"] {
      #expect(try await presentation(path, .anyone).status == 404, "\(path)")
    }
    #expect(try await presentation("~%2F/collection", owner).status == 404)
  }

  @Test(arguments: [
    ("~", FolderReference.space), ("~/a", FolderReference("a", in: .space)),
    ("a/b", FolderReference("a/b", in: .library)), ("~/a/b", FolderReference("a/b", in: .space)),
    ("~/", nil), ("~/..", nil), ("", nil), ("..", nil),
  ])
  func `a folder has a name in URLs`(text: String, folder: FolderReference?) {
    #expect(FolderReference(text) == folder)
    #expect(folder == nil || folder?.text == text)
  }

  @Test func `every folder is below the library`() {
    for text in ["a/b", "~/a/b", "~"] {
      var (folder, depth) = (FolderReference(text), 0)
      while let parent = folder?.parent, depth < 5 { (folder, depth) = (parent, depth + 1) }
      #expect(folder == .library && folder?.text == nil)
    }
    #expect(FolderReference(of: "~/a") == .space && FolderReference(of: "a") == .library)
  }
}
