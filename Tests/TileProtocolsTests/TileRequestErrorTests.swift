import Testing
import TileGeometry

@testable import ZigguratTileProtocols

/// Requests that no protocol answers, and their errors.
struct TileRequestErrorTests {
  /// Levels 0…12; of 512 pixels a tile, the last has 6×4.
  private static let pyramid = Pyramid(imageSize: PixelSize(width: 3001, height: 1703)!, tileSize: 512)!

  @Test(
    "other paths are no tile requests",
    arguments: [
      "", "/", "/dzi", "/dzix/a.dzi", "//dzi/a.dzi", "/DZI/a.dzi", "/xyz", "/zoomify", "/zoom/x", "/iiif",
      "/iiif/",
      "/iiif/3", "/iiif/2", "/iiif/4/x/info.json", "/iiif/30/x/info.json", "/iiif/presentation/3/x/manifest",
      "/api/images/x", "/metrics", "dzi/a.dzi", "/iiif/3x/info.json",
    ])
  func others(path: String) { #expect(ReadRequest(path) == nil) }

  @Test(
    "other paths below a protocol's root name nothing",
    arguments: [
      "/dzi/", "/dzi/photo", "/dzi/photo.DZI", "/dzi/photo.dzi/", "/dzi/photo.dzi/x", "/dzi/photo_files",
      "/dzi/photo_files/", "/dzi/photo_files/12", "/dzi/photo_files/12/0/0_0.jpg",
      "/dzi/photo_files//0/0_0.jpg",
      "/dzi/photo/12/0_0.jpg", "/dzi/12/0_0.jpg", "/xyz/", "/xyz/photo", "/xyz/tilejson.json", "/xyz/0/0.jpg",
      "/xyz/photo/0.jpg", "/zoomify/", "/zoomify/photo", "/zoomify/ImageProperties.xml",
      "/zoomify/photo/0-0-0.jpg", "/zoomify/TileGroup0/0-0-0.jpg", "/zoomify/photo/Group0/0-0-0.jpg",
    ])
  func nothing(path: String) throws {
    let request = try #require(ReadRequest(path))
    guard case .nothing(let reason) = request.request.subject else {
      Issue.record("\(path) is \(request.request.subject)")
      return
    }
    #expect(reason.hasPrefix("there is no "))
  }

  @Test(
    "invalid tile names are not found",
    arguments: [
      "-1/0_0.jpg", "12/-1_0.jpg", "12/0_-1.jpg", "99999999999999999999/0_0.jpg",
      "12/99999999999999999999_0.jpg",
      "12/18446744073709551616_0.jpg", "12/9223372036854775808_0.jpg", "012/0_0.jpg", "12/00_0.jpg",
      "12/0_00.jpg", "+12/0_0.jpg", "12/+0_0.jpg", "12/ 0_0.jpg", "12/0x0_0.jpg", "12/0_0_0.jpg", "12/0.jpg",
      "12/_0.jpg", "12/0_.jpg", "12/_.jpg", "1e1/0_0.jpg", "12.0/0_0.jpg", "/0_0.jpg", "12/٠_0.jpg",
      "12/0-0.jpg",
      "nan/0_0.jpg", "12/", "12/0_0",
    ])
  func misnamed(name: String) {
    for path in ["/dzi/photo_files/\(name)", "/xyz/photo/\(name.replacing("_", with: "/"))"] {
      // One slash more is one of the id.
      guard let request = ReadRequest(path), request.id == "photo" else { continue }
      let place = request.place(in: Self.pyramid)
      guard case .notFound(let refusal) = place else {
        Issue.record("\(path) is \(place)")
        continue
      }
      #expect(refusal.status == 404)
    }
  }

  @Test(
    "tiles outside the pyramid are not found",
    arguments: [
      "/dzi/x_files/13/0_0.jpg", "/dzi/x_files/12/6_0.jpg", "/dzi/x_files/12/0_4.jpg",
      "/dzi/x_files/0/1_0.jpg",
      "/xyz/x/4/0/0.jpg", "/xyz/x/0/1/0.jpg", "/xyz/x/3/6/0.jpg", "/xyz/x/3/0/4.jpg",
      "/xyz/x/999999999999/0/0.jpg",
      "/zoomify/x/TileGroup0/5-0-0.jpg", "/zoomify/x/TileGroup0/0-1-0.jpg", "/zoomify/x/TileGroup1/0-0-0.jpg",
      "/zoomify/x/TileGroup00/0-0-0.jpg", "/zoomify/x/TileGroup/0-0-0.jpg", "/zoomify/x/TileGroupx/0-0-0.jpg",
    ])
  func outside(path: String) throws {
    let request = try #require(ReadRequest(path))
    #expect(request.request.subject == .tile && request.tile(in: Self.pyramid) == nil)
    if case .crop = request.place(in: Self.pyramid) { Issue.record("\(path) is cut") }
  }

  @Test(
    "unknown extensions are rejected",
    arguments: ["", "exe", "JPG", "jpg.jpg", "bmp", "jpg ", "jpgx", "pdf", "tiff"])
  func endings(ending: String) throws {
    for path in [
      "/dzi/x_files/12/0_0.\(ending)", "/xyz/x/3/0/0.\(ending)", "/zoomify/x/TileGroup0/0-0-0.\(ending)",
    ] {
      #expect(try #require(ReadRequest(path)).request.format == nil)
    }
  }

  @Test(
    "documents and images are found whatever slashes their ids have",
    arguments: [
      ("/dzi/a/b.dzi", "a/b", TileSubject.document(hasMetadata: false), "dzi"),
      ("/dzi/a%2Fb.dzi", "a%2Fb", .document(hasMetadata: false), "dzi"),
      ("/dzi/.dzi", "", .document(hasMetadata: false), "dzi"),
      ("/dzi/a_files/b_files/1/2_3.jpg", "a_files/b", .tile, "dzi"),
      ("/dzi/_files/1/2_3.jpg", "", .tile, "dzi"),
      ("/xyz/a/b/tilejson.json", "a/b", .document(hasMetadata: true), "xyz"),
      ("/xyz/a/b/1/2/3.jpg", "a/b", .tile, "xyz"),
      ("/zoomify/a/b/ImageProperties.xml", "a/b", .document(hasMetadata: false), "zoomify"),
      ("/zoomify/a/TileGroup1/TileGroup0/1-0-0.jpg", "a/TileGroup1", .tile, "zoomify"),
      ("/iiif/2/a/b/info.json", "a/b", .document(hasMetadata: false), "iiif2"),
      ("/iiif/3/a/b", "a/b", .redirect, "iiif3"), ("/iiif/3/a/b/", "a/b", .redirect, "iiif3"),
      ("/iiif/3/info.json", "info.json", .redirect, "iiif3"), ("/iiif/3/", "", .redirect, "iiif3"),
      ("/iiif/3/a/b/full/max/0/default.jpg", "a/b", .tile, "iiif3"),
      ("/iiif/3/a/info.json/", "a/info.json", .redirect, "iiif3"),
    ])
  func subjects(path: String, id: String, subject: TileSubject, label: String) throws {
    let request = try #require(ReadRequest(path))
    #expect(request.id == id && request.request.subject == subject)
    #expect(TileRequest.labels[request.request.label] == label)
  }
}
