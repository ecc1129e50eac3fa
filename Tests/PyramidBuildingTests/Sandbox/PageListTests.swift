import Foundation
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding
@testable import ZigguratSandbox

/// The list of a source's pages on its way from a sandboxed process.
@Suite struct PageListTests {
  private func decoded(_ places: [Int]) throws -> PagesMessage {
    let bytes = BuildMessage.encode(PagesMessage(count: places.count, places: places, book: nil))
    #expect(BuildMessage.isTaken(pages: bytes))
    return try BuildMessage.decode(PagesMessage.self, WorkerMessage(kind: BuildMessage.pages, bytes: bytes))
  }

  @Test func `100,000 pages are listed, with a gap or a mask after each`() throws {
    for places in [Array(1..<100_000), Array(stride(from: 0, to: 200_000, by: 2))] {
      let pages = try decoded(places)
      #expect(pages.isPossible)
      #expect(places.indices.allSatisfy { pages.page($0).directory == places[$0] })
    }
  }

  @Test func `40,000 pages in random order are listed`() throws {
    var generator = SplitMix(1)
    let places = Array(0..<40_000).shuffled(using: &generator)
    let pages = try decoded(places)
    #expect(pages.isPossible)
    #expect(places.indices.allSatisfy { pages.page($0).directory == places[$0] })
  }

  @Test(arguments: [
    "[0,1]", "[0,1,0]", "[-1,1,1]", "[0,1,1000001]", "[0,1000000,2]", "[0,0,9223372036854775807]",
    "[9223372036854775807,1,2]", "[0,9223372036854775807,3]", "[0,1,1000000,0,1,1]",
  ])
  func `impossible numbers are rejected`(_ text: String) {
    #expect(throws: DecodingError.self) {
      _ = try JSONDecoder().decode(NumberList.self, from: Data(text.utf8))
    }
  }

  @Test func `masks keep their pages`() throws {
    let masks = Dictionary(uniqueKeysWithValues: (0..<30_000).map { (2 * $0, 2 * $0 + 1) })
    let bytes = try JSONEncoder().encode(MaskPlaces(masks))
    #expect(bytes.count < 1000)
    #expect(try JSONDecoder().decode(MaskPlaces.self, from: bytes).all == masks)
    let twice = #"{"pages":[0,0,2],"masks":[1,1,2]}"#
    #expect(throws: DecodingError.self) {
      _ = try JSONDecoder().decode(MaskPlaces.self, from: Data(twice.utf8))
    }
  }
}
