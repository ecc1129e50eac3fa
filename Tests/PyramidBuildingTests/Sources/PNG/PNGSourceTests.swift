import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport

@testable import PyramidBuilding

/// The builder's own PNG reader against the pixels that were written.
struct PNGSourceTests {
  private static func built(_ source: String, in folder: TemporaryFolder, tileSize: Int) throws -> (
    Picture, route: String
  ) {
    var options = BuildOptions()
    (options.format, options.tileSize) = (.png, tileSize)
    let report = try PyramidBuilder(options: options, threads: 2).build(
      source, to: folder("a.szi"), name: "a")
    let archive = try TileArchive(path: folder("a.szi"))
    return (try Picture(level: archive.pyramid.topLevel, of: archive), report.route)
  }

  @Test(
    "every filter restores the pixels", arguments: [1, 2, 3, 4],
    ["none", "sub", "up", "avg", "paeth", "all"])
  func filters(bands: Int, filter: String) throws {
    let folder = try TemporaryFolder()
    for (width, height) in [(9, 1), (133, 131)] {
      let picture = Picture(width: width, height: height, bands: bands)
      try picture.writePNG(folder("plain.png"))
      try Tool.check(["vips", "copy", folder("plain.png"), folder("source.png") + "[filter=\(filter),strip]"])
      let (built, _) = try Self.built(folder("source.png"), in: folder, tileSize: 64)
      #expect(built == picture, "\(width)×\(height)")
    }
  }

  @Test("pixel data may be cut into chunks anywhere", arguments: [1, 2, 5, 64, 1000], [1, 4])
  func chunks(size: Int, bands: Int) throws {
    let folder = try TemporaryFolder()
    let picture = Picture(width: 61, height: 67, bands: bands)
    let source = try folder.write("source.png", PNGChunks(picture.image.pngBytes()).recut(size))
    #expect(try Self.built(source, in: folder, tileSize: 64).0 == picture)
  }

  /// Every combination of the ends of strips, pieces of inflated data and the data.
  @Test("strips may end with the data")
  func strips() throws {
    let folder = try TemporaryFolder()
    for height in [63, 64, 65, 128] {
      for width in [64, 700, 1023, 4100] {
        let picture = Picture(width: width, height: height, bands: 4)
        try picture.writePNG(folder("source.png"))
        #expect(
          try Self.built(folder("source.png"), in: folder, tileSize: 64).0 == picture, "\(width)×\(height)")
      }
    }
  }

  @Test(
    "other kinds of PNG are left to libvips",
    arguments: [
      ("[bitdepth=1]", "1 bit a channel"), ("[bitdepth=8,palette]", "palette"),
      ("[interlace]", "interlacing"),
    ])
  func otherKinds(saving: String, reason: String) throws {
    let folder = try TemporaryFolder()
    try Picture(width: 70, height: 50, bands: 1).writePNG(folder("plain.png"))
    try Tool.check(["vips", "copy", folder("plain.png"), folder("source.png") + saving])
    let picture = try Picture(file: folder("source.png"))
    let (built, route) = try Self.built(folder("source.png"), in: folder, tileSize: 64)
    #expect(route == "exact: read by libvips, for its \(reason)")
    #expect(built == picture)
  }
}
