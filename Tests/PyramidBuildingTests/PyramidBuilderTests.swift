import Foundation
import Synchronization
import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

struct PyramidBuilderTests {
  private static func options(_ format: TileFormat, _ fidelity: Fidelity = .auto, tileSize: Int = 512)
    -> BuildOptions
  {
    var options = BuildOptions()
    (options.format, options.fidelity, options.tileSize) = (format, fidelity, tileSize)
    return options
  }

  /// A JPEG of 4:2:0 unless `saving` says otherwise.
  private static func jpeg(
    _ folder: TemporaryFolder, _ width: Int, _ height: Int, bands: Int = 3, saving: String = ""
  ) throws -> String {
    try Picture(width: width, height: height, bands: bands).writePNG(folder("material.png"))
    try Tool.check(["vips", "copy", folder("material.png"), folder("source.jpg") + saving])
    try FileManager.default.removeItem(atPath: folder("material.png"))
    return folder("source.jpg")
  }

  @Test(
    "the same input and options give the same bytes, whatever the number of threads",
    arguments: Fidelity.all, [TileFormat.jpeg, .png])
  func deterministic(fidelity: Fidelity, format: TileFormat) throws {
    let folder = try TemporaryFolder()
    let options = Self.options(format, fidelity, tileSize: 128)
    for source in [try Self.jpeg(folder, 601, 400), try Self.png(folder, 400, 601)] {
      var archives: Set<[UInt8]> = []
      for threads in [1, 2, 5, 5] {
        let path = folder("archive.szi")
        _ = try PyramidBuilder(options: options, threads: threads).build(source, to: path, name: "archive")
        archives.insert(try bytes(ofFile: path))
      }
      #expect(archives.count == 1)
    }
  }

  private static func png(_ folder: TemporaryFolder, _ width: Int, _ height: Int) throws -> String {
    try Picture(width: width, height: height, bands: 3).writePNG(folder("source.png"))
    return folder("source.png")
  }

  @Test("an archive passes unzip -t, has one root folder and its metadata")
  func archive() throws {
    let folder = try TemporaryFolder()
    let source = try Self.png(folder, 700, 300)
    let report = try PyramidBuilder(options: Self.options(.png), threads: 2)
      .build(source, to: folder("night-watch.szi"), name: "night-watch")
    try Tool.check(["unzip", "-tqq", folder("night-watch.szi")])
    let archive = try TileArchive(path: folder("night-watch.szi"))
    #expect(report.byteCount == archive.byteCount)
    #expect(report.pyramid == archive.pyramid)
    #expect((archive.name, archive.format.fileExtension) == ("night-watch", "png"))
    #expect(archive.entryNames == ["night-watch.dzi", "scan-properties.xml", BuildRecord.entryName].sorted())
    for name in archive.entryNames { #expect(archive.isIntact(name)) }
    let record = try #require(archive.buildRecord)
    #expect((record.sourceName, record.sourceBytes) == ("source.png", try bytes(ofFile: source).count))
    let names = try Tool.check(["unzip", "-Z1", folder("night-watch.szi")]).split(separator: "\n")
    #expect(names.count == archive.pyramid.tileCount + 3)
    #expect(names.allSatisfy { $0.hasPrefix("night-watch/") })
    // Another reader finds the tile where we say it is.
    try Tool.check(["unzip", "-qq", folder("night-watch.szi"), "-d", folder("out")])
    let tile = TileAddress(level: 10, column: 1, row: 0)
    let path = folder("out/night-watch/night-watch_files/10/1_0.png")
    #expect(try bytes(ofFile: path) == archive.bytes(tile))
    #expect(try Tool.check(["vipsheader", "-f", "width", path]) == "188\n")
  }

  @Test(
    "lossless tiles of a JPEG decode to the pixels of the source",
    arguments: [(640, 480), (513, 511), (1, 1)])
  func lossless(width: Int, height: Int) throws {
    for bands in [1, 3] {
      let folder = try TemporaryFolder()
      let source = try Self.jpeg(folder, width, height, bands: bands, saving: "[Q=75]")
      let report = try PyramidBuilder(options: Self.options(.jpeg, .lossless, tileSize: 128), threads: 2)
        .build(source, to: folder("a.szi"), name: "a")
      #expect(report.route.hasPrefix("lossless"))
      let archive = try TileArchive(path: folder("a.szi"))
      let whole = try Picture(file: source)
      let built = try Picture(level: archive.pyramid.topLevel, of: archive)
      #expect((built.width, built.height, built.bands) == (whole.width, whole.height, whole.bands))
      // Chroma at tile edges is interpolated without the neighbour: away from them nothing differs.
      var differing = 0
      for y in 0..<height where (2..<126).contains(y % 128) || bands == 1 {
        for x in 0..<width where (2..<126).contains(x % 128) || bands == 1 {
          if whole[x, y] != built[x, y], x < width - 2, y < height - 2 { differing += 1 }
        }
      }
      #expect(differing == 0, "\(bands) bands")
    }
  }

  @Test("a baseline JPEG with separate component scans keeps its samples")
  func severalScans() throws {
    let folder = try TemporaryFolder()
    let whole = try Self.jpeg(folder, 300, 200, saving: "[Q=75]")
    let script = try folder.write("scans.txt", Array("0;\n1;\n2;\n".utf8))
    try Tool.check(["jpegtran", "-scans", script, "-outfile", folder("scans.jpg"), whole])
    func build(_ source: String, _ fidelity: Fidelity) throws -> (String, TileArchive) {
      let path = folder("\(fidelity.name).szi")
      let report = try PyramidBuilder(options: Self.options(.jpeg, fidelity, tileSize: 128), threads: 2)
        .build(source, to: path, name: "a")
      return (report.route, try TileArchive(path: path))
    }
    let (route, archive) = try build(folder("scans.jpg"), .lossless)
    #expect(route.hasPrefix("planar") && route.contains("several scans"))
    let (_, expected) = try build(whole, .fast)
    for address in expected.pyramid.addresses { #expect(archive.bytes(address) == expected.bytes(address)) }
  }

  @Test("EXIF orientation is applied", arguments: 1...8)
  func orientation(_ orientation: Int) throws {
    let folder = try TemporaryFolder()
    let plain = try bytes(ofFile: Self.jpeg(folder, 300, 200, saving: "[Q=95,subsample-mode=off]"))
    let exif: [UInt8] =
      Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1]
      + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0]
    let segment = [0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif
    let source = try folder.write("turned.jpg", plain[..<2] + segment + plain[2...])
    let stored = try Picture(file: folder.write("plain.jpg", plain))
    _ = try PyramidBuilder(options: Self.options(.png, tileSize: 128), threads: 2)
      .build(source, to: folder("a.szi"), name: "a")
    let archive = try TileArchive(path: folder("a.szi"))
    let upright = try Picture(level: archive.pyramid.topLevel, of: archive)
    let isLying = orientation > 4
    #expect((upright.width, upright.height) == (isLying ? 200 : 300, isLying ? 300 : 200))
    // Where the row and the column of the file that come first are to be seen (EXIF 2.3, 4.6.4 A).
    for (x, y) in [(0, 0), (10, 3), (299, 0), (0, 199), (299, 199), (150, 77)] {
      let (right, bottom) = (299 - x, 199 - y)
      let place =
        [(x, y), (right, y), (right, bottom), (x, bottom), (y, x), (bottom, x), (bottom, right), (y, right)][
          orientation - 1]
      #expect(upright[place.0, place.1] == stored[x, y], "\(x), \(y)")
    }
  }

  @Test("a build that is cancelled at any time leaves nothing", arguments: [0, 1, 2, 3, 5, 8, 12])
  func cancelled(after questions: Int) throws {
    let folder = try TemporaryFolder()
    let source = try Self.png(folder, 600, 2500)
    let left = Atomic(questions)
    let builder = PyramidBuilder(options: Self.options(.png, tileSize: 64), threads: 2) {
      left.subtract(1, ordering: .relaxed).newValue < 0
    }
    #expect(throws: BuildError.self) { try builder.build(source, to: folder("a.szi"), name: "a") }
    #expect(folder.files() == ["source.png"])
  }

  @Test("a vanished source or folder is reported in one line")
  func missing() throws {
    let folder = try TemporaryFolder()
    let builder = PyramidBuilder(threads: 1)
    func reason(_ source: String, _ destination: String) -> String? {
      do {
        _ = try builder.build(source, to: destination, name: "a")
        return nil
      } catch { return error.description }
    }
    #expect(
      reason(folder("none.png"), folder("a.szi")) == "\(folder("none.png")): No such file or directory")
    let source = try Self.png(folder, 3, 3)
    let message = try #require(reason(source, folder("none/a.szi")))
    #expect(message.hasSuffix("No such file or directory") && !message.contains("\n"))
    #expect(folder.files() == ["source.png"])
  }
}
