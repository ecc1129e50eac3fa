import Testing
import TileStorage
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct WebPTileEncoderTests {
  private func options(quality: Int, format: TileFormat = .webp) -> BuildOptions {
    var options = BuildOptions()
    options.format = format
    options.tileSize = 256
    options.quality = quality
    return options
  }

  @Test(arguments: [Photograph.leaf, .cups], [1, 80, 100])
  func `tiles have dzsave's pixels`(_ photograph: Photograph, quality: Int) throws {
    let folder = try TemporaryFolder()
    let source = try photograph.saved(in: folder, as: "photo.v", columns: 701, rows: 523)
    #expect(try Comparison(source, options(quality: quality)).differingPixels() == [])
  }

  /// 1: gray, 2: gray with alpha, 4: RGB with alpha of the photograph's own brightness.
  @Test(arguments: [1, 2, 4])
  func `every number of bands is encoded`(bands: Int) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.autumn.saved(in: folder, as: "photo.png", columns: 301, rows: 257) { crop in
      let (gray, out) = (folder("gray.v"), folder("bands.v"))
      try Vips8.run("colourspace", crop, gray, "b-w")
      if bands == 1 { return gray }
      try Vips8.run("bandjoin", "\(bands == 2 ? gray : crop) \(gray)", out)
      return out
    }
    let comparison = try Comparison(source, options(quality: 80))
    #expect(try comparison.differingPixels() == [])
    var automatic = options(quality: 80)
    automatic.choosesFormat = true
    let chosen = try Comparison(source, automatic, suffix: bands == 1 ? ".jpg[Q=80]" : ".webp[Q=80]").archive
    #expect(chosen.format == (bands == 1 ? .jpeg : .webp))
  }

  @Test func `AVIF tiles have dzsave's pixels`() throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.water.saved(in: folder, as: "photo.v", columns: 131, rows: 77)
    #expect(try Comparison(source, options(quality: 50, format: .avif)).differingPixels() == [])
  }
}
