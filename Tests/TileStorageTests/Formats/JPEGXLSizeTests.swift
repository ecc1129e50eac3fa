import Foundation
import Testing
import ZigguratTestSupport

@testable import TileStorage

/// The size in the first bits of a JPEG XL, compared with files that libvips wrote by libjxl.
@Suite struct JPEGXLSizeTests {
  private func size(_ bytes: [UInt8]) -> [Int]? {
    bytes.withUnsafeBytes { JPEGXLSize($0) }.map { [$0.width, $0.height] }
  }

  /// With sides that are multiples of 8, ratios that have a number of their own, and neither.
  @Test(arguments: [
    (1, 1), (3, 7), (8, 256), (256, 8), (264, 8), (512, 512), (640, 480), (160, 90), (1920, 1080), (300, 200),
    (257, 255),
    (513, 1), (1, 9000), (250, 200), (240, 200), (400, 200), (70_000, 2),
  ])
  func `files of libjxl have their size`(width: Int, height: Int) throws {
    let folder = try TemporaryFolder()
    try Tool.check(["vips", "black", folder("black.v"), "\(width)", "\(height)"])
    for options in ["", "[lossless]"] {
      try Tool.check(["vips", "copy", folder("black.v"), folder("x.jxl\(options)")])
      #expect(size(try bytes(ofFile: folder("x.jxl"))) == [width, height])
    }
  }

  /// 300×200: its height has 9 bits, its width is in the ratio of 3:2.
  private static let codestream: [UInt8] = [0xff, 0x0a, 0x38, 0x46, 1, 2, 3, 4, 5, 6, 7, 8]

  private func box(_ name: String, _ content: [UInt8], isLong: Bool = false) -> [UInt8] {
    func number(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return (isLong ? number(1, 4) : number(8 + content.count, 4)) + Array(name.utf8)
      + (isLong ? number(16 + content.count, 8) : []) + content
  }

  private var start: [UInt8] {
    box("JXL ", [0x0d, 0x0a, 0x87, 0x0a]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
  }

  @Test func `a codestream in boxes is found`() {
    let stream = Self.codestream
    #expect(size(stream) == [300, 200])
    #expect(size(start + box("jxlc", stream)) == [300, 200])
    #expect(size(start + box("jbrd", [1, 2, 3]) + box("jxlc", stream, isLong: true)) == [300, 200])
    #expect(size(start + [0, 0, 0, 0] + Array("jxlc".utf8) + stream) == [300, 200], "to the end")
    for cut in 0..<stream.count {
      let parts =
        box("jxlp", [0, 0, 0, 0] + stream.prefix(cut)) + box("Exif", [0])
        + box("jxlp", [0x80, 0, 0, 1] + stream.dropFirst(cut))
      #expect(size(start + parts) == [300, 200], "\(cut)")
    }
  }

  @Test func `damage gives a result, not a crash`() {
    for bytes in [
      [], [0xff], [0xff, 0x0a], [0xff, 0x0a, 0x38], start, start + box("jxlc", []),
      start + box("jxlp", [0, 0]),
    ] {
      #expect(size(bytes) == nil)
    }
    #expect(
      size(start + [0, 0, 0, 7] + Array("jxlc".utf8) + Self.codestream) == nil,
      "a box smaller than its header")
    #expect(size(start + [0, 0, 1, 0] + Array("jxlc".utf8) + Self.codestream) == nil, "a box beyond the end")
    #expect(
      size(start + [0, 0, 0, 1] + Array("jxlc".utf8) + [255, 255, 255, 255, 255, 255, 255, 255]) == nil)
    var random = SplitMix(SplitMix.runSeed)
    let whole = start + box("jxlp", [0, 0, 0, 0] + Self.codestream)
    for _ in 0..<20_000 {
      var broken = whole
      for _ in 0...random.below(4) { broken[random.below(broken.count)] = UInt8(random.below(256)) }
      _ = size(Array(broken.prefix(random.below(broken.count + 1))))
    }
  }
}
