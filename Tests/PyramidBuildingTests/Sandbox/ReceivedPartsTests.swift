import Foundation
import Testing
import TileGeometry

@testable import PyramidBuilding

/// Messages of a compromised sandboxed process about an archive, and those that must not reach its writer.
@Suite struct ReceivedPartsTests {
  // 12 tiles of 512 px.
  private let pyramid = Pyramid(imageSize: PixelSize(width: 600, height: 300)!, tileSize: 512)!

  private func plan(_ pyramid: Pyramid) -> BuildPlan {
    BuildPlan(pyramid: pyramid, format: .jpeg, memory: 1 << 20)
  }

  @Test func `every tile arrives once, and none is missing`() throws {
    var parts = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    for tile in 0..<pyramid.tileCount {
      #expect(!parts.isWhole)
      let isNew = parts.insert(tile: tile)
      let isTwice = parts.insert(tile: tile)
      #expect(isNew && !isTwice)
    }
    #expect(parts.isWhole)
  }

  @Test(arguments: [-1, 12, Int.max, Int.min]) func `tiles outside the pyramid are rejected`(_ tile: Int)
    throws
  {
    var parts = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    let isTaken = parts.insert(tile: tile)
    #expect(!isTaken)
  }

  @Test(arguments: [
    "", "/etc/passwd", "../photo.dzi", "a/../../b", "a//b", ".", "a/", String(repeating: "a", count: 256),
  ])
  func `an entry is a path below the root`(_ name: String) throws {
    var parts = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    let isTaken = parts.insert(entry: name)
    #expect(!isTaken)
  }

  @Test func `the number of entries is limited, and each arrives once`() throws {
    var parts = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    let taken = (0..<200).filter { parts.insert(entry: "vendor/ziggurat/\($0).json") }
    #expect(taken.count == 100)
    var others = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    let (first, second) = (others.insert(entry: "a/b"), others.insert(entry: "a/b"))
    #expect(first && !second)
  }

  @Test func `a pyramid too large for memory is invalid`() throws {
    let huge = try #require(Pyramid(imageSize: PixelSize(width: 1 << 30, height: 1 << 30)!, tileSize: 2))
    #expect(ReceivedParts(of: plan(huge), within: 1 << 40) == nil)
  }

  @Test func `more bytes than the picture can fill are rejected`() throws {
    var parts = try #require(ReceivedParts(of: plan(pyramid), within: 1 << 20))
    // 128 MB beside six bytes a pixel.
    let (first, second, third) = (parts.grow(by: 1 << 27), parts.grow(by: 600 * 300 * 6), parts.grow(by: 1))
    #expect(first && second && !third)
  }

  @Test(arguments: [(1 << 40, 1 << 40), (1 << 62, 1), (1, .max), (.max, .max), (0, 1), (-1, -1)])
  func `a plan with more pixels than any file has is invalid`(_ width: Int, _ height: Int) throws {
    let text =
      "{\"width\":\(width),\"height\":\(height),\"tileSize\":512,\"format\":\"jpg\",\"memory\":1}"
    let plan = try JSONDecoder().decode(PlanMessage.self, from: Data(text.utf8))
    #expect(plan.plan(BuildOptions()) == nil)
  }

  @Test func `the plan of a gigapixel picture is valid`() throws {
    let text = "{\"width\":1000000,\"height\":1000000,\"tileSize\":512,\"format\":\"jpg\",\"memory\":1}"
    let plan = try JSONDecoder().decode(PlanMessage.self, from: Data(text.utf8))
    #expect(plan.plan(BuildOptions())?.maxBytes == 6_000_000_000_000 + 1 << 27)
  }

  @Test(arguments: [
    ("two\nlines", "two lines"), ("\u{1b}[31mred", " [31mred"), ("", "the decoder gave no reason"),
    (" \t\u{202e}", "the decoder gave no reason"), ("it is damaged", "it is damaged"),
    (String(repeating: "x", count: 5000), String(repeating: "x", count: 1000)),
  ])
  func `text is reduced to one line`(_ text: String, _ line: String) {
    #expect(text.sanitizedLine == line)
  }
}
