import Foundation
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

@Suite struct PictureEndTests {
  /// Files of up to 8 bytes, which no decoder reads; many begin as files of a format do.
  @Test(arguments: ["jpegload", "pngload", "webpload", "gifload", "heifload", "jxlload", "jp2kload"])
  func `a file that is too short for a picture has no data behind one`(loader: String) throws {
    let folder = try TemporaryFolder()
    var random = SplitMix(SplitMix.runSeed)
    // Padding for a box, then what JPEG XL begins with.
    var files: [[UInt8]] = [[0, 0, 0, 0, 0xff, 0x0a, 0x53, 0x20]]
    for _ in 0..<500 {
      files.append(
        (0...random.below(8)).map { _ in random.pick([0, 1, 8, 0x20, 0xff, 0xd8, 0xd9, 0x0a, 0x66]) })
    }
    for bytes in files {
      try Data(bytes).write(to: URL(fileURLWithPath: folder("picture")))
      let file = try SourceFile(path: folder("picture"))
      #expect(!TrailingData.isBeforeData(file, loader), "SEED=\(SplitMix.runSeed): \(bytes)")
    }
  }
}
