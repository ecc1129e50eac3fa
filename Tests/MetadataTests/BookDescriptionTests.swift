import Foundation
import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratMetadata

struct BookDescriptionTests {
  @Test("a written description is read back unchanged")
  func roundTrip() throws {
    var book = BookDescription()
    #expect(book.isEmpty && String(decoding: book.json, as: UTF8.self) == "{\n\n}\n")
    book.metadata = ImageMetadata(
      title: "Hours", caption: "two\nlines", creators: ["A", "B; C"], date: "1410", place: "Paris",
      rights: "©",
      keywords: ["x"])
    book.metadata.titles = ["de": "Stunden", "fr": "Heures"]
    (book.metadata.license, book.metadata.identifier) = ("https://example.org/by", "MS 1")
    (book.viewingDirection, book.behavior, book.isBuilt) = (.rightToLeft, .continuous, true)
    book.chapters = [.init(title: "One", page: "f1r", level: 0), .init(title: "Two", page: "3", level: 7)]
    #expect(try BookDescription(json: book.json) == book)
    #expect(try BookDescription(json: BookDescription(json: book.json).json).json == book.json)
    // Which of its languages stands for the title is kept, whichever it is.
    for title in ["Stunden", "Heures", "Hours"] {
      book.metadata.title = title
      #expect(try BookDescription(json: book.json) == book)
    }
    for _ in 0..<20 {
      let spelled = #"{"title": {"": "a", "@none": "b", "none": "c", "de": "d"}}"#
      #expect(try BookDescription(json: Array(spelled.utf8)).metadata.title == "c")
    }
  }

  @Test func `the first of two equal members counts, as the warning states`() throws {
    for (one, other) in [("a", "b"), ("b", "a"), ("Hours", "Heures")] {
      let json = Array("{\"title\": \"\(one)\",\n\"place\": \"x\",\n\"title\": \"\(other)\"}".utf8)
      #expect(try BookDescription(json: json).metadata.title == one)
      #expect(
        BookDescription.warnings(json: json, meant: { _, _ in nil }) == [
          "line 3: 'title' stands twice; the first one counts"
        ])
    }
  }

  @Test("any bytes are a description within its limits, or are rejected")
  func anything() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed)
    let pieces = [
      "{", "}", "[", "]", ":", ",", "\"title\"", "\"chapters\"", "\"page\"", "\"behavior\"", "\"paged\"",
      "\"en\"", "1",
      "1e999", "-1", "null", "true", "\"\\u0000\"", "\"\u{301}\"", " ", "\"level\"", "\"built\"",
      "\"license\"",
      "\"http://a/\"", "\"",
    ]
    var found = 0
    for _ in 0..<20_000 {
      let text = "{" + (0...random.below(12)).map { _ in random.pick(pieces) }.joined() + "}"
      guard let book = try? BookDescription(json: Array(text.utf8)) else { continue }
      found += 1
      #expect(book.chapters.allSatisfy { 0..<8 ~= $0.level && !$0.title.isEmpty }, "seed \(seed): \(text)")
      #expect(try BookDescription(json: book.json) == book, "seed \(seed): \(text)")
    }
    #expect(found > 0, "seed \(seed)")
  }

  @Test("long lines are cut, and a title in another language replaces a missing one")
  func bounds() throws {
    let long = String(repeating: "é", count: 5000)
    let book = try BookDescription(json: Array(#"{"title": {"fr": "\#(long)"}, "creator": " a\n "}"#.utf8))
    #expect(book.metadata.titles["fr"]?.unicodeScalars.count == 1000)
    #expect(book.metadata.title == book.metadata.titles["fr"] && book.metadata.creators == ["a"])
  }

  @Test("a book without a creator has that of its first page, but not its title or caption")
  func firstPage() {
    var first = ImageMetadata(title: "f1r", caption: "a leaf", creators: ["A"], rights: "©")
    first.license = "https://example.org/by"
    var book = BookDescription()
    #expect(book.merged(besides: first, title: nil).title == nil)
    #expect(book.merged(besides: first, title: nil).caption == nil)
    #expect(book.merged(besides: first, title: "Hours").title == "Hours")
    #expect(book.merged(besides: first, title: nil).creators == ["A"])
    book.metadata = ImageMetadata(title: "Own", creators: ["B"], rights: "nobody's")
    let merged = book.merged(besides: first, title: "Hours")
    #expect(
      merged.title == "Own" && merged.creators == ["B"] && merged.rights == "nobody's"
        && merged.license == nil)
  }
}
