import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport

@testable import PyramidBuilding

/// Every kind of file against what libvips' own commands make of it.
struct SourceFormatTests {
  struct Kind: CustomTestStringConvertible {
    /// The file, with the saver's options.
    var file: String
    /// Operations of `vips` from the base picture to what is saved, each `name arguments…`.
    var made: [String] = []
    /// Operations from the file to the 8-bit picture that its tiles should hold.
    var wanted: [String] = []
    var steps: [String] = []

    var testDescription: String { file + made.map { " " + $0 }.joined() }
  }

  private static let gray = "colourspace b-w"
  private static let kinds = [
    Kind(file: "baseline.jpg"), Kind(file: "progressive.jpg[interlace]"),
    Kind(file: "full.jpg[subsample-mode=off]"), Kind(file: "gray.jpg", made: [gray]),
    Kind(
      file: "bare-cmyk.jpg[strip]", made: ["icc_export --output-profile cmyk"],
      wanted: [
        "icc_transform srgb --input-profile cmyk --intent relative --black-point-compensation --depth 8"
      ],
      steps: [
        "converted from cmyk without a profile to srgb by libvips' own, relative with black point compensation"
      ]),
    Kind(
      file: "cmyk.jpg", made: ["icc_export --output-profile cmyk"],
      wanted: ["icc_transform srgb --embedded --intent perceptual --black-point-compensation --depth 8"],
      steps: ["converted to sRGB by its embedded profile \"Chemical proof\", perceptual"]),
    Kind(file: "bilevel.png[bitdepth=1]", made: [gray]), Kind(file: "palette.png[palette]"),
    Kind(file: "interlaced.png[interlace]"), Kind(file: "alpha.png", made: ["bandjoin_const 128"]),
    Kind(file: "gray-alpha.png", made: [gray, "bandjoin_const 9"]),
    Kind(
      file: "deep.png", made: ["colourspace rgb16"], wanted: ["colourspace srgb"],
      steps: ["converted from rgb16 to srgb"]),
    Kind(
      file: "deep-gray.png", made: ["colourspace grey16"], wanted: ["colourspace b-w"],
      steps: ["converted from grey16 to b-w"]),
    Kind(file: "strips.tif"), Kind(file: "tiles.tif[tile,compression=deflate,predictor=horizontal]"),
    Kind(file: "big.tif[bigtiff,compression=lzw]"), Kind(file: "jpeg.tif[tile,compression=jpeg]"),
    Kind(file: "pyramid.tif[tile,pyramid]"),
    Kind(file: "fax.tif[compression=ccittfax4,bitdepth=1]", made: [gray]),
    Kind(
      file: "deep.tif", made: ["colourspace rgb16"], wanted: ["colourspace srgb"],
      steps: ["converted from rgb16 to srgb"]),
    Kind(
      file: "linear.tif", made: ["colourspace scrgb"], wanted: ["colourspace srgb"],
      steps: ["converted from scrgb to srgb"]),
    Kind(
      file: "lab.tif", made: ["colourspace lab"],
      wanted: ["icc_export --output-profile srgb --intent perceptual --black-point-compensation --depth 8"],
      steps: ["converted from lab to srgb, perceptual"]),
    Kind(
      file: "cmyk.tif[strip]", made: ["icc_export --output-profile cmyk"],
      wanted: [
        "icc_transform srgb --input-profile cmyk --intent relative --black-point-compensation --depth 8"
      ],
      steps: [
        "converted from cmyk without a profile to srgb by libvips' own, relative with black point compensation"
      ]),
    Kind(
      file: "unit.tif", made: [gray, "linear 0.00392156862745098 0"], wanted: ["linear 255 0.5 --uchar"],
      steps: ["scaled from 0…1 to 0…255"]),
    Kind(
      // libvips writes the first row first, and the format has the last one first.
      file: "unit.pfm", made: ["linear 0.00392156862745098 0"],
      wanted: ["flip vertical", "copy --interpretation scrgb", "colourspace srgb"],
      steps: ["converted from scrgb to srgb"]),
    Kind(
      file: "hundreds.tif", made: [gray, "linear 0.5 3.25"], wanted: ["linear 1 0.5 --uchar"],
      steps: ["rounded to whole numbers"]),
    Kind(file: "lossy.webp"), Kind(file: "alpha.webp[lossless]", made: ["bandjoin_const 200"]),
    Kind(file: "palette.gif"), Kind(file: "photo.jp2"), Kind(file: "photo.heic[compression=av1]"),
    Kind(file: "photo.avif"), Kind(file: "photo.ppm"), Kind(file: "gray.pgm", made: [gray]),
    Kind(file: "photo.fits"), Kind(file: "photo.v"),
    Kind(
      file: "radiance.hdr", made: ["colourspace scrgb"], wanted: ["colourspace srgb"],
      steps: ["converted from scrgb to srgb"]),
  ]

  /// Runs operations one after the other; the last picture's file.
  private static func run(
    _ operations: [String], from source: String, _ folder: TemporaryFolder, _ tag: String
  )
    throws -> String
  {
    var file = source
    for (number, operation) in operations.enumerated() {
      let arguments = operation.split(separator: " ").map(String.init)
      let next = folder("\(tag)-\(number).v")
      try Tool.check(["vips", arguments[0], file, next] + arguments.dropFirst())
      file = next
    }
    return file
  }

  @Test("tiles have the picture, and its conversions are reported", arguments: kinds)
  func tilesHoldThePicture(_ kind: Kind) throws {
    let folder = try TemporaryFolder()
    try Picture(width: 150, height: 90, bands: 3).writePNG(folder("base.png"))
    let material = try Self.run(kind.made, from: folder("base.png"), folder, "made")
    let name = kind.file.split(separator: "[")[0]
    try Tool.check(["vips", "copy", material, folder(kind.file)])
    let source = folder(String(name))
    let wanted = try Picture(file: Self.run(kind.wanted, from: source, folder, "wanted"))
    var options = BuildOptions()
    (options.format, options.tileSize, options.fidelity) = (.png, 64, .exact)
    let report = try PyramidBuilder(options: options, threads: 2)
      .build(source, to: folder("a.szi"), name: "a")
    #expect(report.steps == kind.steps)
    let archive = try TileArchive(path: folder("a.szi"))
    #expect(archive.buildRecord?.steps == kind.steps)
    let built = try Picture(level: archive.pyramid.topLevel, of: archive)
    #expect(built.difference(wanted) == 0, "\(built.bands) bands, \(wanted.bands) wanted")
  }

  @Test("values of any range are spread over 0…255, and the range is reported")
  func spread() throws {
    let folder = try TemporaryFolder()
    let base = Picture(width: 150, height: 90, bands: 1)
    try base.writePNG(folder("base.png"))
    let wide = try Self.run(["linear 10 7"], from: folder("base.png"), folder, "wide")
    try Tool.check(["vips", "copy", wide, folder("wide.tif")])
    var options = BuildOptions()
    (options.format, options.tileSize) = (.png, 64)
    let report = try PyramidBuilder(options: options, threads: 2)
      .build(folder("wide.tif"), to: folder("a.szi"), name: "a")
    let (least, greatest) = (base.pixels.min()!, base.pixels.max()!)
    let range = "\(Double(least) * 10 + 7)…\(Double(greatest) * 10 + 7)"
    #expect(report.steps == ["scaled from \(range) to 0…255"])
    let archive = try TileArchive(path: folder("a.szi"))
    let built = try Picture(level: archive.pyramid.topLevel, of: archive)
    var wanted = base
    wanted.pixels = base.pixels.map {
      UInt8((Double($0 - least) * 255 / Double(greatest - least) + 0.5).rounded(.down))
    }
    #expect(try #require(built.difference(wanted)) <= 1)
  }

  @Test("an SVG drawing is rendered")
  func svg() throws {
    let folder = try TemporaryFolder()
    let source = try folder.write(
      "drawing.svg",
      Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="120" height="80">
        <rect width="60" height="80" fill="#c03020"/></svg>
        """.utf8))
    var options = BuildOptions()
    (options.format, options.tileSize) = (.png, 64)
    _ = try PyramidBuilder(options: options, threads: 2).build(source, to: folder("a.szi"), name: "a")
    let archive = try TileArchive(path: folder("a.szi"))
    let built = try Picture(level: archive.pyramid.topLevel, of: archive)
    #expect((built.width, built.height, built.bands) == (120, 80, 4))
    #expect(Array(built[10, 10]) == [0xc0, 0x30, 0x20, 255])
    #expect(Array(built[100, 70]) == [0, 0, 0, 0])
    // JPEG has no alpha: the background shows.
    (options.format, options.background) = (.jpeg, [0, 0, 255])
    let report = try PyramidBuilder(options: options, threads: 2)
      .build(source, to: folder("b.szi"), name: "b")
    #expect(report.steps == ["laid over 0,0,255"])
    let flat = try TileArchive(path: folder("b.szi"))
    let pixel = try Picture(level: flat.pyramid.topLevel, of: flat)[100, 70]
    #expect(pixel.first! < 8 && pixel.last! > 247)
  }

  @Test("an animation is built from its first frame, which is reported", arguments: ["gif", "webp"])
  func animation(ending: String) throws {
    let folder = try TemporaryFolder()
    let source = folder("moving.\(ending)")
    // Two frames, one above the other, red and blue.
    try Tool.check(["vips", "black", folder("red.v"), "60", "40", "--bands", "3"])
    try Tool.check(["vips", "linear", folder("red.v"), folder("r.v"), "1", "255 0 0", "--uchar"])
    try Tool.check(["vips", "linear", folder("red.v"), folder("b.v"), "1", "0 0 255", "--uchar"])
    try Tool.check(["vips", "join", folder("r.v"), folder("b.v"), folder("both.v"), "vertical"])
    try Tool.check(["vips", "\(ending)save", folder("both.v"), source, "--page-height", "40"])
    var options = BuildOptions()
    options.format = .png
    let report = try PyramidBuilder(options: options, threads: 1).build(
      source, to: folder("moving.szi"), name: "moving")
    #expect(report.pyramid.imageSize == PixelSize(width: 60, height: 40))
    #expect(report.steps.first == "the first of 2 frames")
    let top = try Picture(level: report.pyramid.topLevel, of: TileArchive(path: folder("moving.szi")))
    let pixel = Array(top.pixels[0..<3])
    #expect(pixel[0] > 230 && pixel[2] < 25)
  }
}
