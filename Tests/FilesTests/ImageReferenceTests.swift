import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct ImageReferenceTests {
  @Test(arguments: [
    ("a", ImageReference.Repository.library, "a"), ("a/b", .library, "a/b"), ("~", .library, "~"),
    ("~a/b", .library, "~a/b"), ("a/~/b", .library, "a/~/b"), ("~\u{301}/a", .library, "~\u{301}/a"),
    ("~/a", .space, "a"), ("~/a/b", .space, "a/b"), ("~/~", .space, "~"), ("~/~/a", .space, "~/a"),
    // An accent behind the slash does not change the slash.
    ("~/\u{301}", .space, "\u{301}"),
  ])
  func `a text names a repository and an id in it`(
    text: String, repository: ImageReference.Repository, id: String
  ) throws {
    let reference = try #require(ImageReference(text))
    #expect(reference.repository == repository && reference.id.text.utf8.elementsEqual(id.utf8))
    #expect(reference.isPrivate == (repository == .space))
    #expect(reference.text.utf8.elementsEqual(text.utf8) && reference.description == reference.text)
    #expect(ImageReference(reference.id, in: repository) == reference)
  }

  @Test(arguments: ["", "~/", "~//a", "~/..", "~/.", "~/a/../b", "~/\0", "~/a\0", "..", "a//b", "\0", "/a"])
  func `a text without an id names no image`(text: String) {
    #expect(ImageReference(text) == nil)
  }

  @Test func `the text after the repository's mark need not be an id`() {
    for (text, rest) in [("~/", ""), ("~//a", "/a"), ("~/..", ".."), ("~/1:ab", "1:ab")] {
      let parts = ImageReference.parts(of: text)
      #expect(parts.repository == .space && parts.rest == rest)
    }
    for text in ["", "~", "a~/", "/~/", "a"] {
      let parts = ImageReference.parts(of: text)
      #expect(parts.repository == .library && parts.rest == text)
    }
  }

  @Test func `the same id in two repositories is two images`() {
    let (open, own) = (ImageReference("a", in: .library), ImageReference("a", in: .space))
    #expect(open != own && open.text == "a" && own.text == "~/a")
    #expect(Set([open, own, "a", "~/a"]).count == 2)
    // As with ids, composed and not.
    #expect(ImageReference("~/caf\u{e9}") != ImageReference("~/cafe\u{301}"))
  }

  @Test func `a library shows no image whose id would be the text of another reference`() throws {
    for text in ["~/a", "~/a/b", "~/~/a"] { #expect(try #require(ImageID(text)).isHidden) }
  }

  @Test func `the folder and a shortened reference are in the same repository`() {
    let reference: ImageReference = "~/a/b.jpg"
    #expect(reference.folder == "~/a" && reference.folder?.folder == nil)
    #expect(reference.dropping(4) == "~/a/b" && reference.folder?.dropping(1) == nil)
    let open: ImageReference = "a/b"
    #expect(open.folder == "a" && open.dropping(2) == "a")
  }

  @Test func `a reference is a string in JSON`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    let references: [ImageReference] = ["a/b", "~/a/b"]
    let json = try encoder.encode(references)
    #expect(String(decoding: json, as: UTF8.self) == "[\"a/b\",\"~/a/b\"]")
  }
}
