import Foundation
import Testing

@testable import TileStorage

/// Addresses in the metadata of archives that somebody else made.
@Suite struct ImageMetadataTests {
  @Test(arguments: [
    "javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>", "vbscript:a", "file:///etc/passwd", "//example.org/a", "a/b",
    "",
    "https://", "https:///a", "https://example.org/a b", "https://example.org/\"onclick",
    "https://example.org/\u{202e}",
    "https://example.org/" + String(repeating: "a", count: 1000),
  ])
  func `a license URL that a browser must not follow is ignored`(address: String) throws {
    let record = try JSONSerialization.data(withJSONObject: [
      "title": "A", "license": address, "webStatement": address, "keywords": [String](),
    ])
    let metadata = try #require(ImageMetadata(json: record))
    #expect(metadata.title == "A")
    #expect(metadata.license == nil)
    #expect(metadata.webStatement == nil)
  }

  @Test func `web addresses are kept`() throws {
    let record = Data(
      #"{"license": "https://example.org/by", "webStatement": "HTTP://example.org/r?a=%20#b", "keywords": []}"#
        .utf8)
    let metadata = try #require(ImageMetadata(json: record))
    #expect(metadata.license == "https://example.org/by")
    #expect(metadata.webStatement == "HTTP://example.org/r?a=%20#b")
  }
}
