import Foundation
import Synchronization
import Testing
import ZigguratFiles
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

/// Sources that a build finds, and their ids.
struct SourceScanTests {
  private static func ids(_ scan: SourceScan) -> [ImageID: String] {
    Dictionary(uniqueKeysWithValues: scan.sources.map { ($0.id, $0.path) })
  }

  private static func folder(_ names: String...) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in names { try folder.write(name, Array(name.utf8)) }
    return folder
  }

  @Test("the id is the path below the source root without its extension")
  func nested() throws {
    let folder = try Self.folder(
      "in/paintings/night-watch.jpg", "in/a.b.png", "in/x/y/z/deep.TIFF", "in/top.webp")
    let scan = SourceScan([folder("in/")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["a.b", "paintings/night-watch", "top", "x/y/z/deep"])
    #expect(scan.sources[1].path == folder("in/paintings/night-watch.jpg"))
    #expect(scan.failures.isEmpty && scan.passedOver == 0)
  }

  @Test("sources that would share an id keep their extensions")
  func clash() throws {
    let folder = try Self.folder("in/a.jpg", "in/a.png", "in/b.png", "in/sub/a.jpg")
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["a.jpg", "a.png", "b", "sub/a"])
  }

  @Test("a file whose name gives no image id is rejected")
  func nameless() throws {
    let folder = try Self.folder("in/..jpg", "in/a.jpg")
    let scan = SourceScan([folder("in/..jpg"), folder("in")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["a"])
    #expect(scan.failures.map(\.source) == [folder("in/..jpg")])
  }

  @Test("folders whose names differ only in Unicode form are two books")
  func composition() throws {
    let folder = try Self.folder("in/caf\u{e9}/1.jpg", "in/cafe\u{301}/1.jpg")
    let scan = SourceScan([folder("in")], library: folder("out"), asBooks: true)
    #expect(scan.sources.count == 1 && scan.failures.count == 1)
  }

  @Test("a PDF of one page is a page of its folder's book; one of several pages is not")
  func onePage() throws {
    let folder = try Self.folder(
      "in/codex/1.jpg", "in/codex/2.pdf", "in/codex/plates.pdf", "in/codex/bad.pdf")
    let counts = [folder("in/codex/2.pdf"): 1, folder("in/codex/plates.pdf"): 3]
    let scan = SourceScan(
      [folder("in")], library: folder("out"), asBooks: true, pageCount: { counts[$0] })
    let folios = Dictionary(uniqueKeysWithValues: scan.sources.map { ($0.id, $0.folio) })
    #expect(folios == ["codex/1": "1", "codex/2": "2", "codex/plates": nil, "codex/bad": nil])
    #expect(scan.doubts.map(\.source) == [folder("in/codex")])
    // Without anybody who counts pages none is one.
    let uncounted = SourceScan([folder("in")], library: folder("out"), asBooks: true)
    #expect(uncounted.sources.filter { $0.folio != nil }.map(\.id) == ["codex/1"])
  }

  @Test("capitals that decide the order of pages are reported")
  func capitals() throws {
    for (names, isReported) in [
      (["P1", "p2", "P3"], true), (["p1", "p2", "p10"], false), (["A1", "b2"], false),
    ] {
      let folder = try TemporaryFolder()
      for name in names { try folder.write("in/codex/\(name).jpg", Array(name.utf8)) }
      let scan = SourceScan([folder("in")], library: folder("out"), asBooks: true)
      #expect(!scan.doubts.isEmpty == isReported, "\(names)")
    }
  }

  @Test("if two roots have the same name, the second is rejected and named")
  func sameID() throws {
    let folder = try Self.folder("one/a.jpg", "two/a.jpg")
    let scan = SourceScan([folder("one"), folder("two")], library: folder("out"))
    #expect(Self.ids(scan) == ["a": folder("one/a.jpg")])
    #expect(
      scan.failures.map(\.description)
        == [
          "\(folder("two/a.jpg")): has the same id 'a' as \(folder("one/a.jpg")) (\(SourceScan.prefixHint))"
        ])
  }

  @Test("a file that is found twice, by name or by any link, is built once")
  func sameFile() throws {
    let folder = try Self.folder("in/a.jpg")
    #expect(symlink("a.jpg", folder("in/soft.jpg")) == 0)
    #expect(link(folder("in/a.jpg"), folder("in/hard.jpg")) == 0)
    let scan = SourceScan([folder("in/a.jpg"), folder("in"), folder("in/./a.jpg")], library: folder("out"))
    #expect(Self.ids(scan) == ["a": folder("in/a.jpg")])
    #expect(scan.failures.isEmpty)
  }

  @Test("folders that link to each other are entered once each")
  func mesh() throws {
    let folder = try TemporaryFolder()
    for one in 0..<11 {
      try folder.write("in/d\(one)/\(one).jpg", [1])
      for other in 0..<11 where other != one {
        #expect(symlink("../d\(other)", folder("in/d\(one)/l\(other)")) == 0)
      }
    }
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(scan.sources.count == 11 && scan.folders.count == 12)
    #expect(scan.failures.allSatisfy { $0.reason.hasSuffix("a loop") } && scan.failures.count < 121)
  }

  @Test("a cancelled scan ends")
  func cancelled() throws {
    let folder = try Self.folder("in/a.jpg", "in/b.jpg", "in/c/d.jpg")
    let asked = Mutex(0)
    let isCancelled: @Sendable () -> Bool = {
      asked.withLock { asked in
        asked += 1
        return asked > 2
      }
    }
    let scan = SourceScan([folder("in")], library: folder("out"), isCancelled: isCancelled)
    #expect(scan.sources.count == 2)
  }

  @Test("a folder's files of every format are found by their extensions")
  func formats() throws {
    let folder = try TemporaryFolder()
    let endings = Set(ImageFormat.allCases.flatMap(\.endings))
    for ending in endings { try folder.write("in/\(ending)/a.\(ending.uppercased())", [0]) }
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(Set(scan.sources.map(\.id.text)) == Set(endings.map { "\($0)/a" }) && scan.passedOver == 0)
    for ending in [
      "psd", "psb", "ico", "tga", "pcx", "sgi", "dpx", "xcf", "dds", "mat", "hif", "qptiff", "tf8",
    ] { #expect(endings.contains(ending), "\(ending)") }
  }

  @Test(
    "hidden files and files without an image extension are skipped, unless they are named")
  func passedOver() throws {
    let folder = try Self.folder(
      "in/.hidden.jpg", "in/.git/a.jpg", "in/notes.txt", "in/noending", "in/a.jpg", "in/Thumbs.db")
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(Self.ids(scan) == ["a": folder("in/a.jpg")])
    #expect(scan.passedOver == 3)
    let met = Mutex<[String: String]>([:])
    _ = SourceScan(
      [folder("in")], library: folder("out"),
      onPassedOver: { path, reason in met.withLock { $0[path] = reason } })
    #expect(
      met.withLock { $0 }
        == [
          folder("in/notes.txt"): "no image by its name", folder("in/noending"): "no image by its name",
          folder("in/Thumbs.db"): "no image by its name",
        ])
    let named = SourceScan([folder("in/noending"), folder("in/.hidden.jpg")], library: folder("out"))
    #expect(named.sources.map(\.id) == ["noending"])
    // Which no library would show.
    #expect(
      named.failures.map(\.description) == [
        "\(folder("in/.hidden.jpg")): would be called '.hidden', as no image can be"
      ])
  }

  @Test("globs that the shell did not expand are expanded")
  func globs() throws {
    let folder = try Self.folder("in/a1.jpg", "in/a2.png", "in/b.jpg", "in/[c].jpg")
    #expect(
      SourceScan([folder("in/a?.*")], library: folder("out")).sources.map(\.id) == ["a1", "a2"])
    // A file of that very name comes before the pattern.
    #expect(SourceScan([folder("in/[c].jpg")], library: folder("out")).sources.map(\.id) == ["[c]"])
    let none = SourceScan([folder("in/z*")], library: folder("out"))
    #expect(none.sources.isEmpty)
    #expect(none.failures.map(\.description) == ["\(folder("in/z*")): No such file or directory"])
  }

  @Test("the library itself is not searched")
  func library() throws {
    let folder = try Self.folder("in/a.jpg", "in/library/b.jpg")
    let scan = SourceScan([folder("in")], library: folder("in/library"))
    #expect(scan.sources.map(\.id) == ["a"])
  }

  @Test("a loop of links is reported in a line")
  func loops() throws {
    let folder = try Self.folder("in/sub/a.jpg")
    #expect(symlink("..", folder("in/sub/up")) == 0)
    #expect(symlink("self.jpg", folder("in/self.jpg")) == 0)
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["sub/a"])
    #expect(
      Set(scan.failures.map(\.description)) == [
        "\(folder("in/self.jpg")): Too many levels of symbolic links",
        "\(folder("in/sub/up")): is a link to a folder above it: a loop",
      ])
  }

  @Test("a name that is not UTF-8 is reported, and the rest is found")
  func notUTF8() throws {
    let folder = try Self.folder("in/a.jpg")
    let name = Array(folder("in/").utf8CString.dropLast()) + [CChar(bitPattern: 0xe9), 0]
    let descriptor = open(name, O_CREAT | O_WRONLY, 0o644)
    #expect(descriptor >= 0)
    close(descriptor)
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["a"])
    #expect(
      scan.failures.map(\.description) == ["\(folder("in")): holds a file whose name is not UTF-8: \\xE9"])
    unlink(name)
  }

  @Test(
    "a folder without search permission is reported",
    .enabled(if: getuid() != 0, "root may search every folder"))
  func unreadable() throws {
    let folder = try Self.folder("in/secret/a.jpg", "in/b.jpg")
    #expect(chmod(folder("in/secret"), 0) == 0)
    defer { chmod(folder("in/secret"), 0o755) }
    let scan = SourceScan([folder("in")], library: folder("out"))
    #expect(scan.sources.map(\.id) == ["b"])
    #expect(scan.failures.map(\.description) == ["\(folder("in/secret")): Permission denied"])
  }

  @Test("each folder is a book with pages in natural order and its path as id")
  func books() throws {
    let folder = try Self.folder(
      "in/page2.jpg", "in/page10.jpg", "in/page1.png", "in/notes.txt", "in/vol/a/003.tif", "in/vol/a/21.tif",
      "in/vol/a/1000.tif", "in/vol/empty/notes.txt")
    let scan = SourceScan([folder("in")], library: folder("out"), asBooks: true)
    #expect(
      scan.sources.map(\.id)
        == ["in/page1", "in/page2", "in/page10", "vol/a/003", "vol/a/21", "vol/a/1000"])
    #expect(scan.sources.map(\.folio) == ["page1", "page2", "page10", "003", "21", "1000"])
    #expect(
      scan.sources.map { $0.path.split(separator: "/").last! }
        == ["page1.png", "page2.jpg", "page10.jpg", "003.tif", "21.tif", "1000.tif"])
    #expect(scan.failures.isEmpty && scan.passedOver == 2 && scan.books.isEmpty)
  }

  @Test("all images below a folder with a book description are pages of that book")
  func describedBooks() throws {
    let folder = try Self.folder(
      "in/hours/book.json", "in/hours/cover.jpg", "in/hours/a front/f2r.jpg", "in/hours/a front/f10r.jpg",
      "in/hours/b/c/f1.jpg", "in/hours/b/c/f1.tif", "in/hours/loose/book.xmp", "in/hours/loose/1.jpg",
      "in/album/book.xmp", "in/album/book.jpg", "in/album/sub/1.jpg")
    let scan = SourceScan([folder("in")], library: folder("out"), asBooks: true)
    #expect(
      scan.sources.map(\.id) == [
        "album/book", "album/sub/1", "hours/a front/f2r", "hours/a front/f10r", "hours/b/c/f1.jpg",
        "hours/b/c/f1.tif", "hours/cover", "hours/loose/1",
      ])
    #expect(
      scan.sources.map(\.folio)
        == ["book", "1", "a front/f2r", "a front/f10r", "b/c/f1.jpg", "b/c/f1.tif", "cover", "1"])
    // The XMP is of the picture of that name.
    #expect(scan.books == ["hours": folder("in/hours"), "hours/loose": folder("in/hours/loose")])
    #expect(scan.failures.isEmpty && scan.passedOver == 0)
    // Pictures know nothing of it.
    let plain = SourceScan([folder("in/hours")], library: folder("out"))
    #expect(plain.sources.allSatisfy { $0.folio == nil } && plain.passedOver == 1 && plain.books.isEmpty)
    let named = SourceScan([folder("in/hours/")], library: folder("out"), asBooks: true)
    #expect(named.sources.map(\.id).first == "hours/a front/f2r" && named.books["hours"] != nil)
  }

  @Test("a book is a folder, and two books of one id are not merged")
  func booksThatCannotBe() throws {
    let folder = try Self.folder("a/scans/1.jpg", "a/scans.pdf", "b/scans/1.jpg", "c.jpg", ".d.jpg")
    let scan = SourceScan(
      [folder("a"), folder("b"), folder("c.jpg"), folder(".d.jpg")], library: folder("out"), asBooks: true)
    // A PDF is a book by itself, and a file that is named one picture.
    #expect(
      Self.ids(scan) == [
        "scans/1": folder("a/scans/1.jpg"), "scans.pdf": folder("a/scans.pdf"), "c": folder("c.jpg"),
      ])
    #expect(scan.sources.map { $0.folio != nil } == [true, false, false])
    #expect(
      scan.failures.map(\.description) == [
        "\(folder("b/scans/1.jpg")): is a page of the book 'scans', whose pages are in \(folder("a/scans")) "
          + "(\(SourceScan.prefixHint))",
        "\(folder(".d.jpg")): would be called '.d', as no image can be",
      ])
  }
}
