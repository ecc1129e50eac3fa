import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct JPEGXLTileEncoderTests {
  private func options(_ format: TileFormat, quality: Int = 80, _ fidelity: Fidelity = .auto) -> BuildOptions
  {
    var options = BuildOptions()
    (options.format, options.tileSize, options.quality) = (format, 256, quality)
    options.fidelity = fidelity
    return options
  }

  private func built(_ source: String, _ options: BuildOptions, in folder: TemporaryFolder) throws
    -> TileArchive
  {
    let path = folder("\(options.format.fileExtension).szi")
    _ = try PyramidBuilder(options: options, threads: 2).build(source, to: path, name: "built")
    return try TileArchive(path: path)
  }

  /// Pixels of a tile, decoded by libvips' own way to libjxl.
  private func pixels(_ bytes: [UInt8], _ folder: TemporaryFolder) throws -> DecodedTile {
    let file = folder("tile.jxl")
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return try DecodedTile(Image(path: file, access: .random))
  }

  /// 1: gray, 2: gray with alpha, 3: RGB, 4: RGB with alpha of the photograph's own brightness.
  private func photograph(_ bands: Int, in folder: TemporaryFolder) throws -> String {
    try Photograph.autumn.saved(in: folder, as: "photo.png", columns: 301, rows: 257) { crop in
      let (gray, out) = (folder("gray.v"), folder("bands.v"))
      try Vips8.run("colourspace", crop, gray, "b-w")
      if bands % 2 == 1 { return bands == 1 ? gray : crop }
      try Vips8.run("bandjoin", "\(bands == 2 ? gray : crop) \(gray)", out)
      return out
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func `quality 100 gives the pixels of PNG tiles`(bands: Int) throws {
    let folder = try TemporaryFolder()
    let source = try photograph(bands, in: folder)
    let ours = try built(source, options(.jxl, quality: 100), in: folder)
    let exact = try built(source, options(.png), in: folder)
    for index in 0..<ours.pyramid.tileCount {
      let place = ours.pyramid.rectangle(of: ours.pyramid.address(at: index)!)!
      let tile = Array(ours.tile(index)!)
      let wanted = try DecodedTile(
        Image.tile(exact.tile(index)!, .png, width: place.width, height: place.height))
      #expect(try pixels(tile, folder) == wanted)
      #expect(
        try DecodedTile(Image.tile(ours.tile(index)!, .jxl, width: place.width, height: place.height))
          == wanted)
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func `a lossy tile is close to its source, and decodes as in libvips`(bands: Int) throws {
    let folder = try TemporaryFolder()
    let source = try photograph(bands, in: folder)
    let ours = try built(source, options(.jxl, quality: 90), in: folder)
    let exact = try built(source, options(.png), in: folder)
    let top = ours.pyramid.firstIndex(ofLevel: ours.pyramid.topLevel)
    let (bytes, size) = (ours.tile(top)!, 256)
    let decoded = try DecodedTile(Image.tile(bytes, .jxl, width: size, height: size))
    let wanted = try DecodedTile(Image.tile(exact.tile(top)!, .png, width: size, height: size))
    #expect(decoded.bands == bands)
    #expect(mean(decoded, wanted) < 3)
    #expect(mean(decoded, try pixels(Array(bytes), folder)) < 0.6)
    #expect(bytes.count < exact.tile(top)!.count / 2)
  }

  private func mean(_ one: DecodedTile, _ other: DecodedTile) -> Double {
    #expect(one.pixels.count == other.pixels.count)
    let sum = zip(one.pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Double(sum) / Double(one.pixels.count)
  }

  @Test(arguments: [
    (
      "420.jpg[Q=85,subsample-mode=on]",
      "lossless: cut from the source's coefficients; the JPEG tiles are recompressed"
    ),
    (
      "444.jpg[Q=92,subsample-mode=off]",
      "exact: the source's chroma is not 4:2:0; the JPEG tiles are recompressed"
    ),
    ("gray.jpg[Q=85]", "lossless: cut from the source's coefficients; the JPEG tiles are recompressed"),
  ])
  func `each lossless tile reconstructs the JPEG tile`(name: String, route: String) throws {
    let folder = try TemporaryFolder()
    let source = try Photograph.leaf.saved(in: folder, as: name, columns: 731, rows: 523) { crop in
      guard name.hasPrefix("gray") else { return crop }
      try Vips8.run("colourspace", crop, folder("gray.v"), "b-w")
      return folder("gray.v")
    }
    let ours = try built(source, options(.jxl, .lossless), in: folder)
    let plain = try built(source, options(.jpeg, .lossless), in: folder)
    #expect(ours.buildRecord?.route == route)
    #expect(ours.pyramid == plain.pyramid)
    for index in 0..<ours.pyramid.tileCount {
      let place = ours.pyramid.rectangle(of: ours.pyramid.address(at: index)!)!
      let jpeg = Image.jpeg(inTile: ours.tile(index)!, .jxl, width: place.width, height: place.height)
      #expect(jpeg == Array(plain.tile(index)!), "\(ours.pyramid.address(at: index)!)")
    }
  }

  @Test func `other tiles reconstruct no JPEG`() throws {
    let folder = try TemporaryFolder()
    let source = try photograph(3, in: folder)
    for fidelity in [Fidelity.auto, .lossless] {
      let ours = try built(source, options(.jxl, fidelity), in: folder)
      let top = ours.pyramid.firstIndex(ofLevel: ours.pyramid.topLevel)
      #expect(Image.jpeg(inTile: ours.tile(top)!, .jxl, width: 256, height: 256) == nil)
    }
    let jpeg = try built(source, options(.jpeg), in: folder)
    #expect(Image.jpeg(inTile: jpeg.tile(0)!, .jpeg, width: 1, height: 1) == nil)
  }

  @Test func `a tile of another size, a damaged tile and a layered tile are reported`() throws {
    let folder = try TemporaryFolder()
    let ours = try built(try photograph(3, in: folder), options(.jxl), in: folder)
    let top = ours.pyramid.firstIndex(ofLevel: ours.pyramid.topLevel)
    let tile = ours.tile(top)!
    #expect(throws: TileError.misfit("has 256×256 pixels, not 200×256")) {
      try Image.tile(tile, .jxl, width: 200, height: 256)
    }
    for length in [12, 40, tile.count / 2, tile.count - 1] {
      let cut = UnsafeRawBufferPointer(rebasing: tile[..<length])
      #expect(throws: TileError.self) { try Image.tile(cut, .jxl, width: 256, height: 256) }
    }
  }
}
