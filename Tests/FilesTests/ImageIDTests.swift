import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct ImageIDTests {
  /// Every text of up to `length` of the pieces.
  private static func texts(_ pieces: [String], length: Int) -> [String] {
    var (all, last) = ([""], [""])
    for _ in 0..<length {
      last = last.flatMap { text in pieces.map { text + $0 } }
      all += last
    }
    return all
  }

  /// Whether a text may be an id, by another computation than that of `ImageID`.
  private static func isSound(_ text: String) -> Bool {
    let names = Array(text.unicodeScalars).split(separator: "/", omittingEmptySubsequences: false)
    return names.allSatisfy {
      !$0.isEmpty && !$0.contains("\0") && Array($0) != ["."] && Array($0) != [".", "."]
    }
  }

  @Test("every text of path characters is an id or invalid, and no id leaves the library")
  func everyText() {
    var ids = 0
    for text in Self.texts([".", "/", "a", "~", "\0", "\u{301}"], length: 6) {
      let id = ImageID(text)
      #expect((id != nil) == Self.isSound(text), "\(text.debugDescription)")
      guard let id else { continue }
      ids += 1
      #expect(id.text.utf8.elementsEqual(text.utf8))
      let path = id.archive(in: "/library")
      #expect(path.utf8.starts(with: "/library/".utf8))
      // The kernel's reading: a part `..` alone leads up.
      #expect(!path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) })
      #expect(ImageID(archive: path, below: "/library") == id)
      #expect((id.folder.map { $0.text + "/" } ?? "") + id.name == text)
      #expect(id.page(2).folder == id && id.page(2).name == "2" && id.page(2).isBelow(id))
      #expect(ImageID(id.page(2).text) == id.page(2))
      if let folder = id.folder { #expect(id.isBelow(folder) && ImageID(folder.text) == folder) }
      #expect(!id.isBelow(id))
    }
    #expect(ids > 10_000)
  }

  @Test("ids are compared by bytes: composed and decomposed forms are different ids")
  func bytes() {
    let (composed, apart): (ImageID, ImageID) = ("caf\u{e9}", "cafe\u{301}")
    #expect(composed.text == apart.text)
    #expect(composed != apart && Set([composed, apart]).count == 2)
    // As SQLite has their keys.
    #expect(apart < composed && !(composed < apart))
  }

  @Test("numbers in ids sort naturally, all else by bytes, as the catalog's keys do")
  func order() {
    let counted: [ImageID] = [
      "1/2", "01/10", "1/10", "9", "10", "a", "a-1", "a/f1r", "a/f1v", "a/f2r", "a/f010r", "a/page 0",
      "a/page 00",
      "a/page 9", "a/page 12345678", "a/page 123456789", "a/page 1234567890", "a0", "b",
    ]
    #expect(counted.shuffled().sorted() == counted)
    func numbers(_ text: String) -> [String] {
      text.utf8.split { !(0x30...0x39 ~= $0) }.map { String(Substring($0.drop { $0 == 0x30 })) }
    }
    let pieces = ["a", "/", "0", "1", "10", "9", "\u{e9}", "e\u{301}", "\u{1f600}", ":", "-", "000000001"]
    let ids = Self.texts(pieces, length: 4).compactMap(ImageID.init)
    let sorted = ids.sorted()
    for (one, next) in zip(sorted, sorted.dropFirst()) where one != next {
      let (key, nextKey) = (NaturalOrder.key(one.text), NaturalOrder.key(next.text))
      let isSame = key.utf8.elementsEqual(nextKey.utf8)
      #expect(
        isSame
          ? one.text.utf8.lexicographicallyPrecedes(next.text.utf8)
          : key.utf8.lexicographicallyPrecedes(nextKey.utf8), "\(one), \(next)")
      if isSame { #expect(numbers(one.text) == numbers(next.text)) }
      #expect(next.follows(one.text) && !one.follows(next.text) && !one.follows(one.text))
    }
    #expect(ids.allSatisfy { $0.follows("") })
  }

  @Test(
    "hidden ids",
    arguments: [
      ".a", "a/.b/c", "..a", "~/a", ".\u{301}/a", "~/\u{301}", "catalog.sqlite", "catalog.sqlite/a",
      "catalog.sqlite-journal/a", "CATALOG.sqlite-wal",
    ])
  func hidden(text: String) throws { #expect(try #require(ImageID(text)).isHidden) }

  @Test(
    "visible ids",
    arguments: [
      "a.b", "a/b.", "~", "a/~/b", "~a/b", "a/~", "catalog.sqlite3/a", "a/catalog.sqlite", "catalog",
    ])
  func shown(text: String) throws { #expect(try #require(ImageID(text)).isHidden == false) }

  @Test func `an id is a string in JSON`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let ids: [ImageID] = ["a/b", "caf\u{e9}"]
    #expect(String(decoding: try encoder.encode(ids), as: UTF8.self) == "[\"a/b\",\"caf\u{e9}\"]")
    #expect(try JSONDecoder().decode([ImageID].self, from: encoder.encode(ids)) == ids)
    for text in ["..", "", "a//b", "a/../b"] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([ImageID].self, from: encoder.encode([text]))
      }
    }
  }

  @Test func `the path of an archive has an extension`() {
    #expect(ImageID(archive: "/l/.szi", below: "/l") == nil)
    #expect(ImageID(archive: "/l/szi", below: "/l") == nil)
    #expect(ImageID(archive: "/l", below: "/l") == nil)
    #expect(ImageID(archive: "/l/a/../b.szi", below: "/l") == nil)
    #expect(ImageID(archive: "/l/\u{301}.szi", below: "/l")?.text.utf8.count == 2)
  }
}
