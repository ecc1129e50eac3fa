import PyramidBuilding
import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

/// Held against `vips dzsave`: the same levels, names and sizes of tiles, the same pixels.
struct DZSaveAgreementTests {
  private static let sizes: [(width: Int, height: Int)] = [
    (1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (5, 7), (1, 5000), (5000, 1), (31, 17), (64, 64), (127, 129),
    (255, 256), (257, 255), (300, 200), (1, 512), (512, 1), (1, 513), (513, 1), (511, 511), (512, 512),
    (513, 513), (511, 513), (513, 511), (640, 481), (777, 555), (1023, 9), (1024, 1024), (1025, 1025),
    (1025, 3), (3, 1025), (1537, 511), (2048, 64), (2049, 65), (1009, 2003),
  ]
  private static let fewSizes = [(1, 1), (1, 700), (511, 2), (513, 511), (514, 3), (777, 555), (1025, 1025)]

  private static func options(_ format: TileFormat) -> BuildOptions {
    var options = BuildOptions()
    options.format = format
    options.fidelity = .exact
    return options
  }

  private static func build(_ source: String, _ options: BuildOptions, in folder: TemporaryFolder) throws
    -> TileArchive
  {
    _ = try PyramidBuilder(options: options, threads: 2).build(source, to: folder("ours.szi"), name: "ours")
    return try TileArchive(path: folder("ours.szi"))
  }

  /// Builds a picture both ways and compares every tile.
  private static func compare(_ picture: Picture, tileSize: Int = 512) throws {
    let folder = try TemporaryFolder()
    try picture.writePNG(folder("source.png"))
    var options = Self.options(.png)
    options.tileSize = tileSize
    let archive = try build(folder("source.png"), options, in: folder)
    let reference = try DZSave(folder("source.png"), suffix: ".png", tileSize: tileSize)
    let addresses = archive.pyramid.addresses
    #expect(addresses.map { DZSave.name($0, "png") }.sorted() == reference.names)
    for address in addresses {
      let ours = try archive.picture(address)
      let theirs = try Picture(file: reference.path(DZSave.name(address, "png")))
      // Within 1 of 255 would do for libvips of another release; this one rounds as we do.
      #expect(ours.difference(theirs) == 0, "\(address)")
    }
  }

  @Test("RGB tiles have the names, sizes and pixels of dzsave", arguments: sizes)
  func rgb(width: Int, height: Int) throws {
    try Self.compare(Picture(width: width, height: height, bands: 3))
  }

  @Test("gray tiles have the names, sizes and pixels of dzsave", arguments: fewSizes)
  func gray(width: Int, height: Int) throws {
    try Self.compare(Picture(width: width, height: height, bands: 1))
  }

  @Test("tiles with alpha have the pixels of dzsave, weighted by opacity", arguments: fewSizes, [2, 4])
  func alpha(size: (width: Int, height: Int), bands: Int) throws {
    try Self.compare(Picture(width: size.width, height: size.height, bands: bands))
  }

  @Test("tiles of other sizes have the pixels of dzsave", arguments: [64, 126, 254, 256, 1000])
  func tileSizes(tileSize: Int) throws {
    try Self.compare(Picture(width: 777, height: 555, bands: 3), tileSize: tileSize)
  }

  @Test(
    "exact JPEG tiles have dzsave's bytes except an 18-byte JFIF header",
    arguments: [(1, 1), (17, 5), (513, 511), (1025, 700), (1009, 2003)], [1, 3])
  func jpeg(size: (width: Int, height: Int), bands: Int) throws {
    let folder = try TemporaryFolder()
    let source = folder("source.png")
    try Picture(width: size.width, height: size.height, bands: bands).writePNG(source)
    let archive = try Self.build(source, Self.options(.jpeg), in: folder)
    let reference = try DZSave(source, suffix: ".jpg[Q=80]")
    let addresses = archive.pyramid.addresses
    #expect(addresses.map { DZSave.name($0, "jpg") }.sorted() == reference.names)
    for address in addresses {
      let ours = try #require(archive.bytes(address))
      let theirs = try bytes(ofFile: reference.path(DZSave.name(address, "jpg")))
      // SOI, then APP0 of 16 bytes, its marker and "JFIF".
      #expect(Array(ours[2..<10]) == [0xff, 0xe0, 0, 16] + Array("JFIF".utf8))
      #expect(Array(ours[..<2] + ours[20...]) == theirs, "\(address)")
    }
  }

  @Test(
    "a JPEG decoded natively gives the tiles of dzsave",
    arguments: ["", "[Q=60,subsample-mode=off]", "[interlace]"])
  func jpegSource(saving: String) throws {
    let folder = try TemporaryFolder()
    try Picture(width: 1201, height: 901, bands: 3).writePNG(folder("source.png"))
    let source = folder("source.jpg")
    try Tool.check(["vips", "copy", folder("source.png"), source + saving])
    let archive = try Self.build(source, Self.options(.png), in: folder)
    let reference = try DZSave(source, suffix: ".png")
    for address in archive.pyramid.addresses {
      let theirs = try Picture(file: reference.path(DZSave.name(address, "png")))
      let difference = try archive.picture(address).difference(theirs)
      #expect(difference == 0, "\(address)")
    }
  }
}
