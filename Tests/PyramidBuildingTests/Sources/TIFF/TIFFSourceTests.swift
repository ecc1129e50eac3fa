import Foundation
import Testing
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct TIFFSourceTests {
  private func options(_ fidelity: Fidelity, tileSize: Int = 256, quality: Int = 80) -> BuildOptions {
    var options = BuildOptions()
    options.tileSize = tileSize
    options.fidelity = fidelity
    options.quality = quality
    return options
  }

  /// Sizes of pieces that divide the tiles', that are divided by them, and that do neither.
  private static let layouts = [
    "tile,tile-width=256,tile-height=256", "tile,tile-width=128,tile-height=64",
    "tile,tile-width=512,tile-height=512", "tile,tile-width=160,tile-height=192",
    "tile,tile-width=1024,tile-height=16",
  ]

  @Test(
    arguments: ["none", "lzw", "deflate", "deflate,predictor=horizontal", "jpeg,Q=85", "jpeg,Q=95"], layouts)
  func `a tiled RGB TIFF gives the tiles of dzsave`(compression: String, layout: String) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.autumn.saved(
      in: folder, as: "photo.tif[\(layout),compression=\(compression)]", columns: 701, rows: 523)
    let comparison = try Comparison(source, options(.exact))
    #expect(comparison.route == "exact: as asked, TIFF tiles decoded side by side")
    #expect(try comparison.differingBytes() == [])
  }

  @Test(arguments: ["none", "lzw", "deflate,predictor=horizontal", "jpeg,Q=85"])
  func `an RGB TIFF in strips gives the tiles of dzsave`(compression: String) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.cups.saved(
      in: folder, as: "photo.tif[compression=\(compression)]", columns: 701, rows: 523)
    let comparison = try Comparison(source, options(.exact))
    #expect(comparison.route == "exact: as asked, TIFF strips decoded side by side")
    #expect(try comparison.differingBytes() == [])
  }

  @Test(arguments: ["deflate", "jpeg,Q=85", "lzw"], [true, false])
  func `gray TIFF and BigTIFF give the tiles of dzsave`(compression: String, isTiled: Bool) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.water.saved(
      in: folder, as: "photo.tif[bigtiff,compression=\(compression)\(isTiled ? ",tile" : "")]",
      columns: 777, rows: 555
    ) { crop in
      let gray = folder("gray.v")
      try Vips8.run("colourspace", crop, gray, "b-w")
      return gray
    }
    let comparison = try Comparison(source, options(.exact))
    #expect(comparison.route.contains("decoded side by side"))
    #expect(try comparison.differingBytes() == [])
  }

  /// Against the photograph that went into the TIFF, at full resolution and the level below.
  @Test(
    arguments: Photograph.allCases,
    ["tile,tile-width=256,tile-height=256", "tile,tile-width=176,tile-height=400"])
  func `kept samples are as close to the picture as dzsave's`(
    _ photograph: Photograph, layout: String
  ) throws {
    let folder = try TemporaryFolder()
    let source = try photograph.saved(
      in: folder, as: "photo.tif[\(layout),compression=jpeg,Q=85]", columns: 1131, rows: 803)
    let comparison = try Comparison(source, options(.fast))
    #expect(comparison.route == "planar: the TIFF tiles keep their JPEG's samples")
    let truth = try Comparison(
      source,
      {
        var exact = options(.exact)
        exact.format = .png
        return exact
      }(), suffix: ".png")
    let pictures = try truth.tiles()
    var errors = (ours: 0, theirs: 0)
    for (index, tile) in try comparison.tiles().enumerated() {
      let picture = try truth.pixels(pictures[index].theirs)
      errors.ours += try comparison.pixels(tile.ours).squaredError(against: picture)
      errors.theirs += try comparison.pixels(tile.theirs).squaredError(against: picture)
    }
    #expect(errors.ours <= errors.theirs)
  }

  @Test(arguments: [Fidelity.lossless, .auto])
  func `source tiles of the output's size are copied`(_ fidelity: Fidelity) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(
      in: folder, as: "photo.tif[tile,tile-width=256,tile-height=256,compression=jpeg,Q=80]")
    let comparison = try Comparison(source, options(fidelity))
    #expect(comparison.route.hasPrefix("lossless: the TIFF tiles are copied"))
    let reader = try TIFFChunkReader(TIFFFile(path: source, tileSize: 256))
    let pyramid = comparison.archive.pyramid
    for tile in try comparison.tiles() where tile.address.level == pyramid.topLevel {
      let size = try #require(pyramid.rectangle(of: tile.address))
      let decoded = try comparison.pixels(tile.ours)
      #expect(decoded.width == size.width && decoded.height == size.height)
      if size.width == 256, size.height == 256 {
        let unit = tile.address.row * pyramid.columns(ofLevel: pyramid.topLevel) + tile.address.column
        #expect(tile.ours == Array(try reader.completeJPEG(unit)))
        // What the TIFF shows, no generation of loss in between.
        var pixels = [UInt8](repeating: 0, count: 256 * 256 * 3)
        try pixels.withUnsafeMutableBufferPointer {
          try reader.decode(unit, to: $0.baseAddress!, stride: 256 * 3)
        }
        #expect(decoded.pixels == pixels)
      }
    }
  }

  /// Their coefficients are compared by Tests/program; here that their pixels are the source's, apart from how chroma
  /// meets at their edges, on every level.
  @Test(arguments: ["tile-width=256,tile-height=256", "tile-width=240,tile-height=176"], [true, false])
  func `tiles of other sizes are cut from the source's coefficients`(layout: String, isGray: Bool) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(
      in: folder, as: "photo.tif[tile,\(layout),compression=jpeg,Q=75]", columns: 1131, rows: 803
    ) { crop in
      guard isGray else { return crop }
      let gray = folder("gray.v")
      try Vips8.run("colourspace", crop, gray, "b-w")
      return gray
    }
    let comparison = try Comparison(source, options(.auto, tileSize: 512))
    #expect(comparison.route == "lossless: cut from the TIFF tiles' coefficients, which are no larger")
    for tile in try comparison.tiles() where tile.address.level > 6 {
      let (ours, theirs) = (try comparison.pixels(tile.ours), try comparison.pixels(tile.theirs))
      #expect(ours.width == theirs.width && ours.height == theirs.height)
      #expect(Double(ours.squaredError(against: theirs)) / Double(ours.pixels.count) < 25)
    }
  }

  @Test func `tiles of higher quality are copied only on request`() throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(
      in: folder, as: "photo.tif[tile,tile-width=256,tile-height=256,compression=jpeg,Q=89]")
    #expect(
      try Comparison(source, options(.auto)).route
        == "planar: the TIFF tiles keep their JPEG's samples; copies would be larger than quality 80")
    #expect(try Comparison(source, options(.lossless)).route == "lossless: the TIFF tiles are copied")
  }

  @Test(arguments: [
    ("compression=none,bitdepth=1", "1 bit a channel"),
    ("compression=ccittfax4,bitdepth=1", "1 bit a channel"),
    ("miniswhite", "inverted gray"),
  ])
  func `a TIFF that needs conversion is read by libvips`(option: String, reason: String) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(in: folder, as: "photo.tif[\(option)]", columns: 400, rows: 300) {
      crop in
      let gray = folder("gray.v")
      try Vips8.run("colourspace", crop, gray, "b-w")
      return gray
    }
    let comparison = try Comparison(source, options(.exact))
    #expect(comparison.route == "exact: read by libvips, for its \(reason)")
    #expect(try comparison.differingBytes() == [])
  }

  @Test(arguments: ["deflate", "jpeg", "lzw", "none"], [Fidelity.exact, .lossless])
  func `a truncated or damaged TIFF gives a picture or one line of error`(
    compression: String, _ fidelity: Fidelity
  ) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.water.saved(
      in: folder, as: "photo.tif[tile,tile-width=64,tile-height=64,compression=\(compression)]", columns: 300,
      rows: 200)
    let whole = try #require(FileManager.default.contents(atPath: source))
    for tenth in 1..<10 {
      let reason = try outcome(of: whole.prefix(whole.count * tenth / 10), in: folder, fidelity)
      #expect(reason != nil, "a file cut at \(tenth) tenths was built")
      #expect(reason?.contains("\n") != true)
    }
    var random = SplitMix(SplitMix.runSeed)
    // The directory stands at the end; there, every flip is a lie.
    let places = [0..<50, max(0, whole.count - 750)..<whole.count, 0..<whole.count]
    for number in 0..<60 {
      var flipped = whole
      let place = places[number % places.count]
      let (position, bit) = (place.lowerBound + random.below(place.count), random.below(8))
      flipped[position] ^= UInt8(1 << bit)
      let reason = try outcome(of: flipped, in: folder, fidelity)
      #expect(reason?.contains("\n") != true, "bit \(bit) of byte \(position), seed \(SplitMix.runSeed)")
    }
  }

  @Test func `a JPEG tile of another size is damaged`() throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.cups.saved(
      in: folder, as: "photo.tif[tile,tile-width=64,tile-height=64,compression=jpeg]", columns: 300, rows: 200
    )
    var bytes = try #require(FileManager.default.contents(atPath: source))
    // The frame header of the first tile: SOF0, length 17, 8 bits, then height and width.
    let frame = try #require(bytes.range(of: Data([0xff, 0xc0, 0, 17, 8])))
    bytes[frame.upperBound + 1] = 128
    try bytes.write(to: URL(fileURLWithPath: source))
    let report = try PyramidBuilder(options: options(.exact), threads: 1)
      .build(source, to: folder("x.szi"), name: "x")
    #expect(report.damage?.kind == .error)
    #expect(report.damage?.reason.contains("tile 1 of 20") == true)
  }

  private func outcome(of bytes: Data, in folder: TemporaryFolder, _ fidelity: Fidelity) throws -> String? {
    let file = folder("broken.tif")
    try bytes.write(to: URL(fileURLWithPath: file))
    do {
      _ = try PyramidBuilder(options: options(fidelity, tileSize: 64), threads: 2)
        .build(file, to: folder("broken.szi"), name: "broken")
      return nil
    } catch { return error.reason }
  }
}

extension DecodedTile {
  fileprivate func squaredError(against other: DecodedTile) -> Int {
    // By index: an iterator of pairs takes ten times as long where nothing is optimized.
    pixels.withUnsafeBufferPointer { ours in
      other.pixels.withUnsafeBufferPointer { theirs in
        var sum = 0
        for index in 0..<min(ours.count, theirs.count) {
          let difference = Int(ours[index]) &- Int(theirs[index])
          sum &+= difference &* difference
        }
        return sum
      }
    }
  }
}
