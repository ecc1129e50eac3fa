import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport

@testable import ZigguratTileProtocols

/// Every URL that is written for a tile is parsed back to that tile.
struct RoundTripTests {
  /// Each scheme that writes URLs of stored tiles, with the tile that its URL is to lead to.
  private static func check(_ pyramid: Pyramid, _ tile: TileAddress, id: String = "a%2Fb/c") throws {
    for scheme in TileScheme.allCases {
      let grid = scheme.grid(of: pyramid)
      guard tile.level >= scheme.coarsestLevel(of: pyramid) else { continue }
      let (source, format) = (try #require(grid.rectangle(of: tile)), TileFormat.allCases.randomElement()!)
      let name = URLWriter.string { scheme.write(tile, source, of: grid, format, to: &$0) }
      let request = try #require(ReadRequest(scheme.folder(ofID: id, base: "") + name), "\(name)")
      #expect(request.id == id && request.request.format == PictureFormat(format))
      switch (scheme, request.place(in: pyramid)) {
      case (.deepZoom, let place): #expect(place == .stored(tile), "\(name)")
      case (.xyz, let place): #expect(Self.xyz(place, pyramid, tile, source), "\(name)")
      case (.iiif2, .stored(let found)), (.iiif3, .stored(let found)):
        // Levels of one pixel are the same picture.
        #expect(found == tile || source.width == 1 && source.height == 1, "\(name)")
      case (.iiif2, .picture(let picture)), (.iiif3, .picture(let picture)):
        #expect(pyramid.overlap > 0 && !Self.isAlone(pyramid, tile), "\(name)")
        #expect(picture.region == IIIFGrid.region(of: source, level: tile.level, in: pyramid))
        #expect(picture.size == PixelSize(width: source.width, height: source.height))
      case (_, let place): Issue.record("\(name) is \(place)")
      }
    }
    try checkExports(pyramid, tile)
  }

  private static func isAlone(_ pyramid: Pyramid, _ tile: TileAddress) -> Bool {
    pyramid.columns(ofLevel: tile.level) == 1 && pyramid.rows(ofLevel: tile.level) == 1
  }

  /// Without overlap it is the stored tile, else the same pixels of its level, without padding.
  private static func xyz(
    _ place: TileResolution, _ pyramid: Pyramid, _ tile: TileAddress, _ source: PixelRect
  ) -> Bool {
    let size = PixelSize(width: source.width, height: source.height)!
    return place
      == (pyramid.overlap == 0 ? .stored(tile) : .crop(source, level: tile.level, paddedTo: size))
  }

  @Test("XYZ tiles are padded at the edges, unless their name says otherwise")
  func padding() throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: 700, height: 500)!, tileSize: 512)!
    let edge = PixelRect(x: 512, y: 0, width: 188, height: 500)
    let padded = TileResolution.crop(
      edge, level: pyramid.topLevel, paddedTo: PixelSize(width: 512, height: 512)!)
    let stored = TileResolution.stored(TileAddress(level: pyramid.topLevel, column: 1, row: 0))
    for (name, place) in [
      ("0.jpg", padded), ("0.jpg?@unpadded", padded), ("0@2x.jpg", padded), ("0@unpadded.jpg", stored),
      ("0@unpadded.jpg?v=1", stored),
    ] {
      #expect(try #require(ReadRequest("/xyz/a/1/1/\(name)")).place(in: pyramid) == place, "\(name)")
    }
    for name in ["0@unpadded@2x.jpg", "0@2x@unpadded.jpg", "0@unpadded", "0@.jpg", "0@UNPADDED.jpg"] {
      let request = try #require(ReadRequest("/xyz/a/1/1/\(name)"))
      if case .notFound = request.place(in: pyramid) { continue }
      Issue.record("\(name)")
    }
  }

  /// The other names that exports give a tile.
  private static func checkExports(_ pyramid: Pyramid, _ tile: TileAddress) throws {
    guard pyramid.overlap == 0 else { return }
    let source = try #require(pyramid.rectangle(of: tile))
    var names = [
      URLWriter.string { IIIFTileName.write(numbersOf: source, level: tile.level, of: pyramid, .png, &$0) }
    ]
    if isAlone(pyramid, tile) {
      let size = pyramid.size(ofLevel: tile.level)
      names.append(URLWriter.string { IIIFTileName.write(wholeAs: size, .png, &$0) })
      if tile.level == pyramid.topLevel {
        names.append(URLWriter.string { IIIFTileName.write(wholeAs: nil, .png, &$0) })
      }
    }
    for name in names {
      let found = try #require(ReadRequest("/iiif/3/x/\(name)")?.tile(in: pyramid), "\(name)")
      #expect(found == tile || source.width == 1 && source.height == 1, "\(name)")
    }
  }

  /// Zoomify's grid is its own: each of its tiles is one stored tile, or a part of its level.
  private static func checkZoomify(_ pyramid: Pyramid) throws {
    let grid = ZoomifyGrid(pyramid)
    for level in 0..<grid.levels.levelCount {
      for y in 0..<grid.levels.rows(ofLevel: level) {
        for x in 0..<grid.levels.columns(ofLevel: level) {
          let tile = ZoomifyTile(
            group: grid.groups(level: level, x: x, y: y).lowerBound, level: level, x: x, y: y)
          let name = URLWriter.string { tile.write(&$0, .jpeg) }
          let request = try #require(ReadRequest(ZoomifyRequest.folder(ofID: "x", base: "") + name))
          let stored = pyramid.topLevel - (grid.levels.levelCount - 1 - level)
          switch request.place(in: pyramid) {
          case .stored(let address):
            #expect(address == TileAddress(level: stored, column: x, row: y))
          case .crop(let rectangle, let at, let size):
            #expect(at == stored && rectangle.x == x * 256 && rectangle.y == y * 256)
            #expect(size.width == rectangle.width && size.height == rectangle.height)
          case let place: Issue.record("\(name) is \(place)")
          }
        }
      }
    }
  }

  @Test("all tiles of all images of up to 40 pixels are found by their URLs", arguments: [0, 1])
  func small(overlap: Int) throws {
    for width in 1...40 {
      for height in 1...40 {
        let size = PixelSize(width: width, height: height)!
        let pyramid = Pyramid(imageSize: size, tileSize: 8, overlap: overlap)!
        for index in 0..<pyramid.tileCount { try Self.check(pyramid, pyramid.address(at: index)!) }
        try Self.checkZoomify(pyramid)
      }
    }
  }

  @Test("tiles of images of any size are found by their URLs")
  func large() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    for _ in 0..<300 {
      let size = PixelSize(width: random.side(bits: 24), height: random.side(bits: 24))!
      let pyramid = Pyramid(
        imageSize: size, tileSize: random.pick([254, 256, 510, 512, 1024]), overlap: random.pick([0, 0, 1]))!
      for _ in 0..<20 {
        try Self.check(pyramid, pyramid.address(at: random.below(pyramid.tileCount))!)
      }
      let little = Pyramid(
        imageSize: PixelSize(width: 1 + random.below(2000), height: 1 + random.below(2000))!, tileSize: 256)!
      try Self.checkZoomify(little)
    }
    print("seed \(seed)")
  }
}
