import Testing
import TileGeometry
import ZigguratTestSupport

@testable import ZigguratTileProtocols

/// Requests in IIP's queries.
struct IIPRequestTests {
  /// Resolutions of 375×212, 750×425, 1500×851 and 3001×1703 pixels; levels 0…12.
  private static let pyramid = Pyramid(imageSize: PixelSize(width: 3001, height: 1703)!, tileSize: 512)!

  private static func read(_ query: String) throws -> ReadRequest {
    try #require(ReadRequest("/iip?\(query)"))
  }

  @Test(
    "tiles are counted row by row",
    arguments: [
      (0, 0, 9, 0, 0), (1, 0, 10, 0, 0), (1, 1, 10, 1, 0), (2, 2, 11, 2, 0), (2, 3, 11, 0, 1),
      (3, 0, 12, 0, 0),
      (3, 5, 12, 5, 0), (3, 6, 12, 0, 1), (3, 23, 12, 5, 3),
    ])
  func tiles(resolution: Int, number: Int, level: Int, column: Int, row: Int) throws {
    let request = try Self.read("FIF=a/b&JTL=\(resolution),\(number)")
    #expect(request.id == "a/b" && request.request.format == .jpg && request.request.subject == .tile)
    #expect(request.tile(in: Self.pyramid) == TileAddress(level: level, column: column, row: row))
    #expect(TileRequest.labels[request.request.label] == "iip")
  }

  @Test(
    "tiles outside the image do not exist",
    arguments: ["0,1", "1,2", "2,6", "3,24", "4,0", "999999999999999,0"])
  func outside(tile: String) throws {
    let place = try Self.read("FIF=x&JTL=\(tile)").place(in: Self.pyramid)
    #expect(place == .notFound(.noSuchTile))
  }

  /// Each of them is an answer, whatever it is.
  @Test("numbers of any size request a part of the image, or nothing")
  func numbers() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    let numbers = [
      "0", "-0", "1", "-1", "0.5", "-5", "1.000001", "0.0000000001", "99999999999999999999999999", "1e9",
      "nan", "",
      String(repeating: "9", count: 60), "0." + String(repeating: "0", count: 58) + "1",
      "9223372036854775807",
      "999999999999999", "999999999999999.9", "4294967296", ".5", "5.",
    ]
    func any() -> String { random.pick(numbers) }
    let limits = PictureLimits()
    for _ in 0..<20_000 {
      let size = PixelSize(width: random.side(bits: 30), height: random.side(bits: 30))!
      let pyramid = Pyramid(imageSize: size, tileSize: random.pick([1, 254, 256, 8192]), overlap: 0)!
      let commands = [
        "RGN=\(any()),\(any()),\(any()),\(any())", "WID=\(any())", "HEI=\(any())", "ROT=\(any())",
        "QLT=\(any())",
      ]
      let asked = random.pick(["CVT=jpeg", "CVT=png", "JTL=\(any()),\(any())", "OBJ=max-size"])
      let query = (commands.filter { _ in random.below(3) == 0 } + [asked]).joined(separator: "&")
      let request = try Self.read("FIF=x&" + query)
      guard request.request.subject == .tile else { continue }
      switch request.place(in: pyramid) {
      case .notFound: break
      case .stored(let address): #expect(pyramid.contains(address), "\(query), seed \(seed)")
      case .crop: Issue.record("without overlap nothing is cut: \(query), seed \(seed)")
      case .picture(let picture):
        let region = picture.region
        #expect(
          region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0
            && region.x + region.width <= size.width && region.y + region.height <= size.height
            && limits.allow(picture.size), "\(query), seed \(seed)")
      }
    }
  }

  @Test("resolutions are rounded down where levels are rounded up")
  func rounding() {
    let pyramid = Pyramid(imageSize: PixelSize(width: 513, height: 1)!, tileSize: 256)!
    let grid = IIPGrid(pyramid).resolutions
    #expect(grid.levelCount == 2 && grid.size(ofLevel: 0) == (256, 1))
    // The level has 257 columns, the last of them in a tile that no client counts.
    #expect(grid.columns(ofLevel: 0) == 1 && pyramid.columns(ofLevel: 9) == 2)
  }

  @Test("every tile is in the pyramid, at the scale of its resolution", arguments: [0, 1])
  func places(overlap: Int) throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    for _ in 0..<2000 {
      let size = PixelSize(width: random.side(bits: 24), height: random.side(bits: 24))!
      let pyramid = Pyramid(imageSize: size, tileSize: random.pick([254, 256, 512]), overlap: overlap)!
      let grid = IIPGrid(pyramid).resolutions
      let resolution = random.below(grid.levelCount)
      let (columns, rows) = (grid.columns(ofLevel: resolution), grid.rows(ofLevel: resolution))
      let number = random.below(columns * rows)
      let level = grid.storedLevel(ofLevel: resolution)
      #expect(pyramid.topLevel - level == grid.levelCount - 1 - resolution)
      let (stored, own) = (pyramid.size(ofLevel: level), grid.size(ofLevel: resolution))
      #expect(stored.width - own.width == 0 || stored.width - own.width == 1)
      #expect(stored.height - own.height == 0 || stored.height - own.height == 1)
      switch try Self.read("FIF=x&JTL=\(resolution),\(number)").place(in: pyramid) {
      case .stored(let tile):
        #expect(overlap == 0 && pyramid.contains(tile))
        #expect(tile == TileAddress(level: level, column: number % columns, row: number / columns))
      case .crop(let part, let at, let tile):
        #expect(overlap == 1 && at == level && tile.width == part.width && tile.height == part.height)
        #expect(
          part.x == number % columns * pyramid.tileSize && part.y == number / columns * pyramid.tileSize)
        #expect(part.x + part.width <= stored.width && part.y + part.height <= stored.height)
      case let place: Issue.record("tile \(resolution),\(number) of \(size) is \(place)")
      }
    }
    print("seed \(seed)")
  }

  @Test(
    "commands may have any order, case and number",
    arguments: [
      ("FIF=a&JTL=3,7", "a"), ("fif=a&jtl=3,7", "a"), ("JTL=3,7&FIF=a", "a"), ("FIF=b&FIF=a&JTL=3,7", "a"),
      ("FIF=a&JTL=0,0&JTL=3,7", "a"), ("FIF=/a&JTL=3,7", "a"), ("FIF=//a/b.tif&JTL=3,7", "a/b.tif"),
      ("FIF=a%2Fb&JTL=3,7", "a%2Fb"), ("&&FIF=a&JTL=3,7&", "a"), ("FIF=a=b&JTL=3,7", "a=b"),
      ("FIF=a&SDS=0,90&CNT=1.0&GAM=1&QLT=70&LYR=3&JTL=3,7&g=1f&_=5", "a"), ("FIF=a&INV&JTL=3,7", "a"),
      ("FIF=a&obj=Max-size&WID=9&CVT=jpeg&JTL=3,7", "a"),
    ])
  func commands(query: String, id: String) throws {
    let request = try Self.read(query)
    #expect(request.id == id)
    #expect(request.tile(in: Self.pyramid) == TileAddress(level: 12, column: 1, row: 1))
  }

  @Test(
    "the extension of a file name is recognized",
    arguments: [
      ("a.tif", 4), ("a.b/c.jpeg", 5), ("a", 0), (".tif", 0), ("a.", 1), ("a.b/c", 0), ("a.longer", 0),
      ("a.t-f", 0),
      ("a.b.jp2", 4),
    ])
  func endings(name: String, length: Int) throws {
    for query in ["FIF=\(name)&JTL=0,0", "DeepZoom=\(name).dzi", "Zoomify=\(name)/ImageProperties.xml"] {
      #expect(try Self.read(query).endingLength == length)
    }
    #expect(try #require(ReadRequest("/dzi/\(name).dzi")).endingLength == 0)
  }

  @Test(
    "malformed queries are rejected",
    arguments: [
      "", "FIF=a", "JTL=0,0", "FIF=&JTL=0,0", "FIF=/&JTL=0,0", "FIF=a&JTL=0", "FIF=a&JTL=0,0,0",
      "FIF=a&JTL=-1,0",
      "FIF=a&JTL=x,0", "FIF=a&JTL=,", "FIF=a&JTL=0, 0", "FIF=a&OBJ=icc", "FIF=a&OBJ=Max-size&OBJ=no",
      "FIF=a&CVT=bmp",
      "FIF=a&CVT=jpeg&WID=x", "FIF=a&CVT=jpeg&HEI=-1", "FIF=a&CVT=jpeg&RGN=0,0,1",
      "FIF=a&CVT=jpeg&RGN=0,0,0,1",
      "FIF=a&CVT=jpeg&RGN=a,0,1,1", "FIF=a&CVT=jpeg&RGN=0,0,1,1,1", "FIF=a&CVT=jpeg&QLT=101",
      "FIF=a&CVT=jpeg&ROT=x",
      "FIF=a&CVT=jpeg&ROT=361", "FIF=a&JTL=0,0&CNT=2", "FIF=a&JTL=0,0&INV=1", "FIF=a&JTL=0,0&SDS=3",
      "FIF=a&SHD=1,2&JTL=0,0",
      "FIF=%zz&JTL=0,0", "FIF=a%&JTL=0,0", "FIF=a+b&JTL=0,0", "JTL=0,0&CVT=jpeg",
      "FIF=a" + String(repeating: "&OBJ=Max-size", count: 17),
    ])
  func malformed(query: String) throws {
    let request = try Self.read(query)
    guard case .malformed = request.request.subject else {
      Issue.record("\(query) is \(request.request.subject)")
      return
    }
    #expect(request.tile(in: Self.pyramid) == nil)
  }

  @Test(
    "other paths are no IIP requests",
    arguments: ["/iip/", "/iipx?FIF=a&JTL=0,0", "/IIP?FIF=a&JTL=0,0", "/ii"])
  func others(path: String) { #expect(ReadRequest(path) == nil) }

  @Test(
    "embedded requests of other protocols equal their own",
    arguments: [
      ("DeepZoom=a/b.dzi", "/dzi/a/b.dzi"), ("deepzoom=a/b_files/12/3_2.jpg", "/dzi/a/b_files/12/3_2.jpg"),
      ("DeepZoom=a_files/12/9_9.webp", "/dzi/a_files/12/9_9.webp"), ("DeepZoom=a", "/dzi/a"),
      ("Zoomify=a/ImageProperties.xml", "/zoomify/a/ImageProperties.xml"),
      ("Zoomify=a/b/TileGroup0/2-1-1.jpg", "/zoomify/a/b/TileGroup0/2-1-1.jpg"), ("Zoomify=a", "/zoomify/a"),
      ("IIIF=a/info.json", "/iiif/2/a/info.json"), ("IIIF=a", "/iiif/2/a"),
      ("IIIF=a%2Fb/0,0,512,512/512,/0/default.jpg", "/iiif/2/a%2Fb/0,0,512,512/512,/0/default.jpg"),
      ("IIIF=a/full/full/!90/gray.png", "/iiif/2/a/full/full/!90/gray.png"),
      ("IIIF=a/x/y/0/z.jpg", "/iiif/2/a/x/y/0/z.jpg"),
    ])
  func forms(query: String, path: String) throws {
    let (form, own) = (try Self.read(query), try #require(ReadRequest(path)))
    #expect(form.id == own.id && form.request.subject == own.request.subject)
    #expect(
      form.request.format == own.request.format && form.place(in: Self.pyramid) == own.place(in: Self.pyramid)
    )
    #expect(form.link(in: Self.pyramid) == own.link(in: Self.pyramid))
    #expect(TileRequest.labels[form.request.label] == "iip")
  }

  @Test(
    "a picture fills the requested box, or has the image's size",
    arguments: [
      ("", 3001, 1703), ("&WID=300", 300, 170), ("&HEI=170", 300, 170), ("&WID=300&HEI=300", 300, 170),
      ("&WID=3000&HEI=100", 176, 100), ("&RGN=0,0,0.5,0.5", 3001, 1703),
      ("&RGN=0.5,0.25,0.1,0.5&HEI=851", 300, 851),
      ("&RGN=0.9,0,0.5,1&WID=100", 100, 567), ("&RGN=-1,-1,2,2&WID=300", 300, 170),
      ("&WID=0&HEI=0", 3001, 1703),
      ("&WID=6002", 6002, 3406),
    ])
  func views(commands: String, width: Int, height: Int) throws {
    let request = try Self.read("FIF=a\(commands)&QLT=60&ROT=!90&CVT=jpeg")
    guard case .picture(let picture) = request.place(in: Self.pyramid) else {
      Issue.record("\(commands) is no picture")
      return
    }
    #expect(picture.size == PixelSize(width: width, height: height))
    #expect(
      picture.encodingQuality == 60 && picture.rotation == 90 && picture.isMirrored && picture.format == .jpg)
  }

  @Test(
    "CVT accepts every format, by extension or media subtype",
    arguments: PictureFormat.allCases)
  func formats(format: PictureFormat) throws {
    let word = try #require(format.mediaType.split(separator: "/").last)
    for name in [format.fileExtension, format.fileExtension.uppercased(), String(word)] {
      #expect(try Self.read("FIF=a&CVT=\(name)").request.format == format)
    }
    let refused = try Self.read("FIF=a&CVT=image/\(word)").request.subject
    guard case .malformed(let reason) = refused else {
      Issue.record("it is \(refused)")
      return
    }
    #expect(reason.contains(format.fileExtension))
  }

  @Test("a picture is no larger than the limits")
  func limits() throws {
    let request = try Self.read("FIF=a&WID=999999999&CVT=png&QLT=1")
    guard case .picture(let picture) = request.place(in: Self.pyramid) else {
      Issue.record("it is no picture")
      return
    }
    #expect(PictureLimits().allow(picture.size))
  }

  @Test("a picture that equals a stored tile is that tile")
  func onTheGrid() throws {
    #expect(
      try Self.read("FIF=a&WID=376&CVT=jpeg").place(in: Self.pyramid)
        == .stored(TileAddress(level: 9, column: 0, row: 0)))
    let outside = try Self.read("FIF=a&RGN=1,0,1,1&CVT=jpeg").place(in: Self.pyramid)
    guard case .notFound(let refusal) = outside else {
      Issue.record("it is \(outside)")
      return
    }
    #expect(refusal.status == 400)
  }
}
