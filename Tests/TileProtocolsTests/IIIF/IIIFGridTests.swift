import Testing
import TileGeometry
import ZigguratHTTPMessages
import ZigguratTestSupport

@testable import ZigguratTileProtocols

/// Requests on the grid, and those beside it.
struct IIIFGridTests {
  /// As a client computes it from info.json (3.0, implementation notes, section 5).
  private static func request(_ pyramid: Pyramid, _ tile: TileAddress) -> (
    region: String, width: Int, height: Int
  ) {
    let factor = 1 << pyramid.shift(ofLevel: tile.level)
    let (side, image) = (pyramid.tileSize * factor, pyramid.imageSize)
    let (x, y) = (tile.column * side, tile.row * side)
    let (width, height) = (min(side, image.width - x), min(side, image.height - y))
    let isWhole = width == image.width && height == image.height
    return (
      isWhole ? "full" : "\(x),\(y),\(width),\(height)", (width + factor - 1) / factor,
      (height + factor - 1) / factor
    )
  }

  @Test("every tile of every small pyramid is found by the URL that a client computes for it")
  func everyTile() throws {
    var checked = 0
    for (width, height) in [(1, 1), (64, 64), (65, 64), (513, 513), (700, 300), (1000, 1), (257, 1025)] {
      for side in [64, 100, 256] {
        let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: side)!
        for level in 0..<pyramid.levelCount {
          for row in 0..<pyramid.rows(ofLevel: level) {
            for column in 0..<pyramid.columns(ofLevel: level) {
              let tile = TileAddress(level: level, column: column, row: row)
              let (region, tileWidth, tileHeight) = Self.request(pyramid, tile)
              for version in ["2", "3"] {
                let path = "/iiif/\(version)/a%2Fb/\(region)/\(tileWidth),\(tileHeight)/0/default.jpg"
                let found = try #require(ReadRequest(path))
                #expect(found.id == "a%2Fb")
                let address = try #require(found.tile(in: pyramid), "\(path) \(width)×\(height)")
                // Levels of few pixels can have the same size: then both are the same picture's.
                #expect(
                  pyramid.rectangle(of: address).map { [$0.width, $0.height] } == [tileWidth, tileHeight])
                if tileWidth > 1 || tileHeight > 1 { #expect(address == tile, "\(path)") }
                checked += 1
              }
            }
          }
        }
      }
    }
    #expect(checked > 1000)
  }

  @Test(
    "a tile is found exactly if the picture lies on the grid, and has the picture's link")
  func agreement() throws {
    var random = SplitMix(11)
    let pyramid = Pyramid(imageSize: PixelSize(width: 1300, height: 900)!, tileSize: 128)!
    var (onGrid, linked) = (0, 0)
    for _ in 0..<30_000 {
      let factor = 1 << random.below(5)
      let side = 128 * factor
      func near(_ number: Int) -> Int { max(0, number + random.pick([0, 0, 0, 0, 1, -1, 64])) }
      let (x, y) = (near(random.below(4) * side), near(random.below(4) * side))
      let (w, h) = (near(min(side, max(1, 1300 - x))), near(min(side, max(1, 900 - y))))
      let region = random.sometimes(8) ? "full" : "\(x),\(y),\(w),\(h)"
      let (sw, sh) = (near((w + factor - 1) / factor), near((h + factor - 1) / factor))
      let version = random.pick(IIIFVersion.allCases)
      let size = "\(sw),\(sh)"
      let path = "/iiif/\(version.rawValue)/x/\(region)/\(size)/0/default.jpg"
      let request = try #require(ReadRequest(path))
      let picture = try? IIIFImageRequest(version, [region, size, "0", "color.jpg"])
        .picture(in: pyramid, PictureLimits())
      let tile = picture.flatMap {
        IIIFGrid.tile(pyramid, $0.region, width: $0.size.width, height: $0.size.height)
      }
      #expect(request.tile(in: pyramid) == tile, "\(region)/\(size)")
      if tile != nil { onGrid += 1 }
      if let picture {
        // Version 2 leaves out a height that follows, unless a tile of another height answers to the width.
        let isTile =
          version == .two && tile == nil
          && IIIFGrid.tile(pyramid, picture.region, width: picture.size.width, height: nil) != nil
        let canonical = picture.iiif(of: pyramid.imageSize, version, PictureLimits(), statesHeight: isTile)
        let url = "http://host/iiif/\(version.rawValue)/x/\(canonical)"
        #expect(
          request.link(in: pyramid) == "<\(url)>;rel=\"canonical\",<\(version.profile)>;rel=\"profile\"")
        linked += 1
      }
    }
    #expect(onGrid > 500 && linked > onGrid)
  }

  @Test(
    "the canonical URL has one spelling of an id",
    arguments: [
      ("a%20b", "a%20b"), ("%61+b", "a%2Bb"), ("p/q", "p%2Fq"), ("p%2fq", "p%2Fq"),
      ("a,b(c)'", "a%2Cb%28c%29%27"),
      ("%C3%bc~", "%C3%BC~"), ("100%25", "100%25"),
    ])
  func spelling(sent: String, written: String) throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 1300, height: 900)!, tileSize: 128)!
    let request = try #require(ReadRequest("/iiif/3/\(sent)/0,0,128,128/128,128/0/default.jpg"))
    let link = try #require(request.link(in: pyramid))
    #expect(link.hasPrefix("<http://host/iiif/3/\(written)/0,0,128,128/max/0/default.jpg>"))
    #expect(PercentEncoding.decodedString(Array(sent.utf8)).map(PercentEncoding.encode) == written)
  }

  @Test("a tile with overlap answers a region only if it is the only tile")
  func overlap() {
    let pyramid = Pyramid(imageSize: PixelSize(width: 1000, height: 1000)!, tileSize: 254, overlap: 1)!
    #expect(ReadRequest("/iiif/3/x/0,0,254,254/254,254/0/default.jpg")?.tile(in: pyramid) == nil)
    #expect(
      ReadRequest("/iiif/3/x/full/250,250/0/default.jpg")?.tile(in: pyramid)
        == TileAddress(level: 8, column: 0, row: 0))
  }

  @Test(
    "a width alone finds its tile for any rounding in version 2, for the nearest in version 3")
  func widths() throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 1001, height: 667)!, tileSize: 128)!
    for level in 0..<pyramid.levelCount {
      for row in 0..<pyramid.rows(ofLevel: level) {
        for column in 0..<pyramid.columns(ofLevel: level) {
          let tile = TileAddress(level: level, column: column, row: row)
          let (region, width, height) = Self.request(pyramid, tile)
          let path = "x/\(region)/\(width),/0/default.jpg"
          let found = try #require(ReadRequest("/iiif/2/\(path)")?.tile(in: pyramid), "\(path)")
          if width > 1 || height > 1 { #expect(found == tile) }
          let source = try #require(pyramid.rectangle(of: tile))
          let covered = IIIFGrid.region(of: source, level: level, in: pyramid)
          let nearest = (Double(covered.height) * Double(width) / Double(covered.width)).rounded()
          let isNearest = max(1, nearest) == Double(height)
          #expect((ReadRequest("/iiif/3/\(path)")?.tile(in: pyramid) != nil) == isNearest, "\(path)")
        }
      }
    }
  }

  @Test(
    "other requests match no stored tile",
    arguments: [
      "/iiif/3/x/info.json", "/iiif/4/x/full/max/0/default.jpg", "/iiif/3/x/full/max/90/default.jpg",
      "/iiif/3/x/full/max/!0/default.jpg", "/iiif/3/x/full/max/0/gray.jpg",
      "/iiif/3/x/full/full/0/default.jpg", "/iiif/3/x/full/^65,/0/default.jpg",
      "/iiif/3/x/full/0,/0/default.jpg", "/iiif/3/x/full/64,0/0/default.jpg",
      "/iiif/3/x/0,0,64/64,/0/default.jpg", "/iiif/3/0/default.jpg", "/iiif/3//0/default.jpg",
      "/iiif/3/default.jpg", "/iiif/3/,/0/default.jpg", "/iiif/3/64,64/0/default.jpg",
      "/iiif/3/99999999999999,0,1,1/64,64/0/default.jpg", "/iiif/3/", "/iiif/2/x",
    ])
  func others(path: String) {
    let pyramid = Pyramid(imageSize: PixelSize(width: 64, height: 64)!, tileSize: 64)!
    #expect(ReadRequest(path)?.tile(in: pyramid) == nil)
  }
}
