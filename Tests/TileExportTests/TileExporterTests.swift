import Foundation
import PyramidBuilding
import Testing
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratTestSupport
import ZigguratTileExport

/// Against the trees that `vips dzsave` writes of the same picture.
@Suite struct TileExporterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let wallpaper = "/usr/share/wallpapers/Flow/contents/images/5120x2880.jpg"

  /// A piece of a photograph as PNG, so that every tile's pixels can be compared exactly.
  private func source(_ width: Int, _ height: Int) throws -> String {
    let path = folder("source.png")
    try Tool.check(["vips", "crop", Self.wallpaper, path, "700", "300", "\(width)", "\(height)"])
    return path
  }

  private func archive(_ source: String, tileSize: Int, format: TileFormat = .png) throws -> TileArchive {
    var options = BuildOptions()
    (options.tileSize, options.format, options.fidelity) = (tileSize, format, .exact)
    _ = try PyramidBuilder(options: options, threads: 2).build(source, to: folder("a.szi"), name: "a")
    return try TileArchive(path: folder("a.szi"))
  }

  private func dzsave(_ source: String, _ layout: String, _ tileSize: Int, _ overlap: Int, _ suffix: String)
    throws
  {
    try Tool.check([
      "vips", "dzsave", source, folder("reference"), "--layout", layout, "--tile-size", "\(tileSize)",
      "--overlap", "\(overlap)", "--suffix", suffix, "--skip-blanks", "-1",
    ])
  }

  /// Size and sRGB pixels, whatever the encoder made of a gray tile; laid over dzsave's white where they are clear.
  private struct Pixels: Equatable {
    let width: Int
    let height: Int
    var bytes: [UInt8]

    init(_ path: String) throws {
      let opened = try Image(path: path, access: .random).converted(to: "srgb")
      let image = opened.hasAlpha ? try opened.flattened(over: [255, 255, 255]) : opened
      (width, height) = (image.width, image.height)
      bytes = [UInt8](repeating: 0, count: width * height * image.bands)
      let stride = width * image.bands
      let rows = height
      try bytes.withUnsafeMutableBufferPointer {
        try PixelReader(image).read(rows: rows, from: 0, to: $0.baseAddress!, stride: stride)
      }
    }
  }

  /// Names and pixels; `theirName` says how dzsave calls one of our files.
  private func expectSame(
    ours: [String], theirs: [String], theirName: (String) -> String = { $0 }
  ) throws {
    #expect(ours.map(theirName).sorted() == theirs.sorted())
    for name in ours {
      let same = try Pixels(folder("out/\(name)")) == Pixels(folder("reference\(theirName(name))"))
      #expect(same, "\(name)")
    }
  }

  private func tiles(below folder: String) -> [String] {
    self.folder.files(below: folder).filter { $0.hasSuffix(".png") && $0 != "blank.png" }
  }

  @Test(arguments: [(254, 1), (256, 0), (100, 30), (512, 7)])
  func `Deep Zoom of any overlap has the tiles of dzsave`(tileSize: Int, overlap: Int) throws {
    let source = try source(813, 601)
    var options = ExportOptions(layout: .deepZoom)
    (options.tileSize, options.overlap) = (tileSize, overlap)
    let report = try TileExporter(archive(source, tileSize: 256), options: options).export(to: folder("out"))
    try dzsave(source, "dz", tileSize, overlap, ".png")
    let ours = tiles(below: "out")
    try expectSame(ours: ours, theirs: tiles(below: "reference_files").map { "_files/" + $0 }) {
      String($0.dropFirst(1))
    }
    #expect(report.copied + report.encoded == ours.count)
    let descriptor = try DeepZoomDescriptor(xml: Data(contentsOf: URL(filePath: folder("out/a.dzi"))))
    #expect(descriptor.pyramid.overlap == overlap && descriptor.pyramid.tileSize == tileSize)
  }

  @Test func `the archive's own grid is copied byte for byte`() throws {
    let archive = try archive(source(813, 601), tileSize: 256, format: .jpeg)
    let report = try TileExporter(archive, options: ExportOptions(layout: .deepZoom)).export(
      to: folder("out"))
    #expect(report.copied == archive.pyramid.tileCount && report.encoded == 0)
    for index in 0..<archive.pyramid.tileCount {
      let tile = archive.pyramid.address(at: index)!
      let file = folder("out/a_files/\(tile.level)/\(tile.column)_\(tile.row).jpg")
      #expect(try bytes(ofFile: file) == Array(archive.tile(index)!))
    }
  }

  /// Sizes of which every level is a whole number of pixels: dzsave rounds levels up.
  @Test(arguments: [(812, 600), (512, 512), (200, 256), (1024, 1280)])
  func `Zoomify has the tiles of dzsave`(width: Int, height: Int) throws {
    let source = try source(width, height)
    _ = try TileExporter(
      archive(source, tileSize: 256, format: .jpeg), options: ExportOptions(layout: .zoomify)
    )
    .export(to: folder("out"))
    try dzsave(source, "zoomify", 256, 0, ".jpg")
    let names = folder.files(below: "reference").filter { $0 != "vips-properties.xml" }
    #expect(folder.files(below: "out") == names)
    for name in names where name.hasSuffix(".jpg") {
      let (ours, theirs) = (try Pixels(folder("out/\(name)")), try Pixels(folder("reference/\(name)")))
      #expect(ours.width == theirs.width && ours.height == theirs.height)
    }
    #expect(
      try String(contentsOfFile: folder("out/ImageProperties.xml"), encoding: .utf8)
        == String(contentsOfFile: folder("reference/ImageProperties.xml"), encoding: .utf8))
  }

  @Test(arguments: [(813, 601, 256), (512, 300, 256), (90, 70, 256), (1025, 512, 128)])
  func `XYZ has the tiles of dzsave's Google layout, with x before y`(width: Int, height: Int, tileSize: Int)
    throws
  {
    let source = try source(width, height)
    _ = try TileExporter(archive(source, tileSize: tileSize), options: ExportOptions(layout: .xyz))
      .export(to: folder("out"))
    try dzsave(source, "google", tileSize, 0, ".png")
    try expectSame(ours: tiles(below: "out"), theirs: tiles(below: "reference").map { "/" + $0 }) { name in
      let parts = name.dropLast(4).split(separator: "/")
      return "/\(parts[0])/\(parts[2])/\(parts[1]).png"
    }
  }

  @Test(arguments: [(813, 601), (256, 256), (100, 40), (1025, 300)])
  func `IIIF has the tiles of dzsave and the other files that viewers request`(width: Int, height: Int) throws
  {
    let source = try source(width, height)
    var options = ExportOptions(layout: .iiif3)
    options.baseURL = "https://example.org/scan"
    _ = try TileExporter(archive(source, tileSize: 256), options: options).export(to: folder("out"))
    try dzsave(source, "iiif3", 256, 0, ".png")
    let ours = tiles(below: "out")
    try expectSame(
      ours: ours.filter { !$0.hasPrefix("full/") }, theirs: tiles(below: "reference").map { "/" + $0 }
    ) { "/" + $0 }
    let json = try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(filePath: folder("out/info.json"))))
    let info = try #require(json as? [String: Any])
    #expect(info["id"] as? String == "https://example.org/scan")
    #expect(info["width"] as? Int == width && info["height"] as? Int == height)
    for size in try #require(info["sizes"] as? [[String: Int]]) {
      #expect(ours.contains("full/\(size["width"]!),\(size["height"]!)/0/default.png"))
    }
  }

  @Test(
    "a corner tile that is one pixel at two scale factors is written once", arguments: [1025, 2050, 3073])
  func cornerOfOnePixel(side: Int) throws {
    try Tool.check(["vips", "black", folder("source.png"), "\(side)", "\(side)"])
    let archive = try archive(folder("source.png"), tileSize: 512)
    for tileSize in [256, 512] {
      var options = ExportOptions(layout: .iiif3)
      options.tileSize = tileSize
      let report = try TileExporter(archive, options: options).export(to: folder("out-\(tileSize)"))
      #expect(report.copied + report.encoded > 0)
    }
    #expect(folder.files(below: "out-512").contains("1024,1024,1,1/1,1/0/default.png") == (side == 1025))
  }

  @Test("levels of Zoomify are rounded down, and edge tiles have the last stored pixel")
  func zoomifyLevels() throws {
    let archive = try archive(source(513, 256), tileSize: 256, format: .jpeg)
    _ = try TileExporter(archive, options: ExportOptions(layout: .zoomify)).export(to: folder("out"))
    var sizes: [String: String] = [:]
    for name in folder.files(below: "out") where name.hasSuffix(".jpg") {
      let pixels = try Pixels(folder("out/\(name)"))
      sizes[name] = "\(pixels.width)×\(pixels.height)"
    }
    #expect(
      sizes == [
        "TileGroup0/0-0-0.jpg": "256×128", "TileGroup0/0-1-0.jpg": "1×128",
        "TileGroup0/1-0-0.jpg": "256×256", "TileGroup0/1-1-0.jpg": "256×256",
        "TileGroup0/1-2-0.jpg": "1×256",
      ])
    let document = try String(contentsOfFile: folder("out/ImageProperties.xml"), encoding: .utf8)
    #expect(document.contains("NUMTILES=\"4\""))
  }

  @Test func `existing files are kept unless the option to replace is set`() throws {
    let archive = try archive(source(300, 200), tileSize: 256)
    try folder.write("out/mine.txt", Array("mine".utf8))
    var options = ExportOptions(layout: .xyz)
    let error = #expect(throws: StorageError.self) {
      try TileExporter(archive, options: options).export(to: folder("out"))
    }
    #expect(error?.reason == "something of that name is there")
    #expect(folder.files(below: "out") == ["mine.txt"])
    options.replaces = true
    let refusal = #expect(throws: StorageError.self) {
      try TileExporter(archive, options: options).export(to: folder("out"))
    }
    #expect(refusal?.reason.hasSuffix("no export wrote \(folder("out/mine.txt"))") == true)
    #expect(folder.files(below: "out") == ["mine.txt"])
    // What an export wrote is replaced.
    try FileManager.default.removeItem(atPath: folder("out/mine.txt"))
    _ = try TileExporter(archive, options: ExportOptions(layout: .zoomify)).export(to: folder("out"))
    _ = try TileExporter(archive, options: options).export(to: folder("out"))
    #expect(!folder.files(below: "out").contains("ImageProperties.xml"))
    #expect(folder.files(below: "out").contains("tilejson.json"))
    #expect(folder.files().allSatisfy { !$0.contains(".ziggurat-") })
  }

  @Test func `an interrupted export leaves nothing`() throws {
    let archive = try archive(source(813, 601), tileSize: 64)
    let exporter = try TileExporter(
      archive, options: ExportOptions(layout: .zoomify), isCancelled: { true })
    #expect(throws: StorageError.self) { try exporter.export(to: folder("out")) }
    #expect(folder.files().sorted() == ["a.szi", "source.png"])
  }

  @Test func `alpha is blended with the background if the format has no alpha`() throws {
    try Tool.check(["vips", "black", folder("alpha.png"), "40", "30", "--bands", "4"])
    var options = ExportOptions(layout: .zoomify)
    options.background = [10, 200, 30]
    _ = try TileExporter(archive(folder("alpha.png"), tileSize: 256), options: options).export(
      to: folder("out"))
    let color = try Tool.check(["vips", "getpoint", folder("out/TileGroup0/0-0-0.jpg"), "20", "15"])
    let numbers = color.split(separator: " ").compactMap { Double($0) }
    #expect(zip(numbers, [10.0, 200, 30]).allSatisfy { abs($0 - $1) <= 3 }, "\(color)")
  }
}
