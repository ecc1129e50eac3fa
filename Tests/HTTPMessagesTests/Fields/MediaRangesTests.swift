import Testing

@testable import ZigguratHTTPMessages

@Suite("Accept headers")
struct MediaRangesTests {
  private static let (linked, plain) = ("application/ld+json", "application/json")

  @Test(
    "the preferred type of linked data and plain JSON is chosen",
    arguments: [
      ("*/*", linked), ("", linked), (plain, plain), (linked, linked), ("text/html", linked),
      ("application/json, application/ld+json", linked), ("application/json, */*", plain),
      ("application/json;q=0.9, application/ld+json;q=0.5", plain),
      ("application/json;q=0.5,application/ld+json ; q=0.9", linked),
      ("application/ld+json;q=0, */*", plain), ("application/ld+json;q=0", linked),
      ("APPLICATION/JSON", plain), ("application/*;q=0.2, application/json;q=0.1", linked),
      ("application/json;charset=utf-8", plain), ("application/json;q=x", linked), (";;,,q=1", linked),
      ("application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\", application/json", linked),
    ])
  func best(header: String, expected: String) {
    #expect(MediaRanges(header).best(of: [Self.linked, Self.plain]) == expected)
  }

  @Test("a type that is named precedes a wildcard")
  func named() {
    #expect(MediaRanges("application/ld+json, */*").best(of: [Self.plain, Self.linked]) == Self.linked)
    #expect(MediaRanges("*/*").best(of: [Self.plain, Self.linked]) == Self.plain)
  }
}
