import Foundation
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

/// Pixels that are not asked for row by row, as of a picture that is turned.
@Suite struct TIFFUnitPixelsTests {
  @Test func `decoded units stay in memory if all are kept`() throws {
    let folder = try TemporaryFolder()
    let path = folder("rows.tif")
    try Picture(width: 64, height: 400, bands: 3).writePNG(folder("rows.png"))
    try Tool.check(["vips", "copy", folder("rows.png"), path + "[compression=deflate,tile-height=8]"])
    let tags = try #require(TIFFTags.read(path: path, page: 0))
    #expect(tags.chunkCount > 20)
    let pixels = try TIFFChunkPixels(path: path, page: 0, tags: tags, keepsAll: true)
    func rows() throws -> [UInt8] {
      var rows = [UInt8](repeating: 0, count: 64 * 400 * 3)
      try rows.withUnsafeMutableBytes {
        try pixels.fill($0.baseAddress!, stride: 64 * 3, x: 0, y: 0, width: 64, height: 400)
      }
      return rows
    }
    let first = try rows()
    // What would be decoded once more is not there any more.
    #expect(truncate(path, 8) == 0)
    #expect(try rows() == first)
  }
}
