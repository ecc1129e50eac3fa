import Foundation
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct PNGTileEncoderTests {
  private var options: BuildOptions {
    var options = BuildOptions()
    options.format = .png
    options.tileSize = 256
    return options
  }

  private func expectNoMoreBytes(_ source: String) throws {
    let comparison = try Comparison(source, options, suffix: ".png")
    #expect(try comparison.differingPixels() == [])
    let tiles = try comparison.tiles()
    #expect(tiles.reduce(0) { $0 + $1.ours.count } <= tiles.reduce(0) { $0 + $1.theirs.count })
  }

  @Test(arguments: Photograph.allCases)
  func `tiles have dzsave's pixels and no more bytes`(_ photograph: Photograph) throws {
    let folder = try TemporaryFolder()
    let source = try photograph.saved(in: folder, as: "photo.v")
    try expectNoMoreBytes(source)
  }

  /// Filters help these little; libvips writes them without.
  @Test(arguments: ["Kay", "MilkyWay", "IceCold"])
  func `tiles of drawings have dzsave's pixels and no more bytes`(_ name: String) throws {
    let folder = try TemporaryFolder()
    let source = folder("drawing.v")
    let path = "/usr/share/wallpapers/\(name)/contents/images/5120x2880.png"
    try Vips8.run("extract_band", path, folder("colours.v"), "0", "--n", "3")
    try Vips8.run("crop", folder("colours.v"), source, "1000", "700", "1731", "1203")
    try expectNoMoreBytes(source)
  }

  /// 1: gray, 2: gray with alpha, 4: RGB with alpha; widths and heights that leave odd edges.
  @Test(arguments: [1, 2, 4], [(1, 1), (5, 257), (513, 3), (600, 511)])
  func `every number of bands and every edge is encoded`(bands: Int, size: (Int, Int)) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.autumn.saved(in: folder, as: "photo.png", columns: size.0, rows: size.1) {
      crop in
      let gray = folder("gray.v")
      let out = folder("bands.v")
      try Vips8.run("colourspace", crop, gray, "b-w")
      if bands == 1 { return gray }
      try Vips8.run("bandjoin_const", bands == 2 ? gray : crop, out, "255")
      return out
    }
    let comparison = try Comparison(source, options, suffix: ".png")
    let tile = try #require(try comparison.tiles().last)
    #expect(try comparison.pixels(tile.ours).bands == bands)
    #expect(try comparison.differingPixels() == [])
  }

  @Test func `the bytes do not depend on the number of threads`() throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(in: folder, as: "photo.v")
    let archives = try [1, 3].map { threads in
      let path = folder("\(threads).szi")
      _ = try PyramidBuilder(options: options, threads: threads).build(source, to: path, name: "same")
      return FileManager.default.contents(atPath: path)
    }
    #expect(archives[0] == archives[1])
  }
}
