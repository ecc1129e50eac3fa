import Foundation
import Testing
import ZigguratTestSupport

@testable import TileStorage

/// The format and size in the first bytes of tiles that libvips wrote.
@Suite struct TileFormatTests {
  private func made(_ folder: TemporaryFolder, _ width: Int, _ height: Int, _ name: String) throws -> [UInt8]
  {
    try Tool.check(["vips", "gaussnoise", folder("noise.v"), "\(width)", "\(height)", "--mean", "128"])
    try Tool.check(["vips", "cast", folder("noise.v"), folder("bytes.v"), "uchar"])
    try Tool.check(["vips", "copy", folder("bytes.v"), folder(name)])
    return try bytes(ofFile: folder(String(name.prefix { $0 != "[" })))
  }

  private func defect(_ format: TileFormat, _ bytes: [UInt8], _ width: Int, _ height: Int) -> String? {
    bytes.withUnsafeBytes { format.defect(ofTile: $0, width: width, height: height) }
  }

  @Test(arguments: TileFormat.allCases)
  func `a tile is recognized only in its own format`(format: TileFormat) throws {
    let folder = try TemporaryFolder()
    for other in TileFormat.allCases {
      let data = try made(folder, 96, 64, "x.\(other.fileExtension)")
      #expect(defect(format, data, 96, 64) == (format == other ? nil : "is no \(format.mediaType)"))
    }
    for length in 0..<12 { #expect(defect(format, Array("GIF89a……".utf8.prefix(length)), 1, 1) != nil) }
  }

  @Test(arguments: [(1, 1), (3, 7), (255, 257), (512, 512), (513, 1), (1000, 600)])
  func `the size of an AVIF is read from its data`(width: Int, height: Int) throws {
    let folder = try TemporaryFolder()
    for options in ["", "[lossless]", "[subsample-mode=off]"] {
      let data = try made(folder, width, height, "x.avif\(options)")
      let pictures = try #require(data.withUnsafeBytes { AVIFPictures($0) })
      // Some encoders take an even number of pixels.
      #expect((width...width + 1).contains(pictures.width) && (height...height + 1).contains(pictures.height))
      #expect(defect(.avif, data, width, height) == nil)
      #expect(defect(.avif, data, height, width) == nil, "turned")
      if width > 200 {
        #expect(
          defect(.avif, data, 100, 100) == "has \(pictures.width)×\(pictures.height) pixels, not 100×100")
      }
    }
  }

  @Test func `an AVIF with an alpha channel is two pictures`() throws {
    let folder = try TemporaryFolder()
    _ = try made(folder, 300, 200, "x.png")
    try Tool.check(["vips", "bandjoin_const", folder("x.png"), folder("alpha.png"), "128"])
    try Tool.check(["vips", "copy", folder("alpha.png"), folder("alpha.avif")])
    #expect(defect(.avif, try bytes(ofFile: folder("alpha.avif")), 300, 200) == nil)
  }

  @Test func `damaged boxes give a result, not a crash`() throws {
    let folder = try TemporaryFolder()
    let data = try made(folder, 64, 48, "x.avif")
    for length in 0..<data.count { _ = defect(.avif, Array(data.prefix(length)), 64, 48) }
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<20_000 {
      var broken = data
      for _ in 0...random.below(4) { broken[random.below(min(data.count, 400))] = UInt8(random.below(256)) }
      _ = defect(.avif, broken, 64, 48)
    }
    for box in ["meta", "iinf", "iloc", "iprp", "ipco", "av01"] {
      let at = try #require(data.firstRange(of: Array(box.utf8)))
      var broken = data
      broken.replaceSubrange(at, with: Array("free".utf8))
      #expect(defect(.avif, broken, 64, 48) == "is no image/avif of plain AV1 pictures", "\(box)")
    }
  }
}
