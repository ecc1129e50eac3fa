import Testing
import ZigguratUploading

@Suite struct UploadNameTests {
  @Test(
    "a file name loses path parts and deceptive characters",
    arguments: [
      ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("C:\\pictures\\a.png", "a.png"),
      (".hidden.jpg", "hidden.jpg"), (".\u{301}x.jpg", "\u{301}x.jpg"), ("~/x.jpg", "x.jpg"),
      ("a\u{0}b.jpg", "ab.jpg"),
      ("a\u{202e}gpj.exe", "agpj.exe"), ("", "picture"), ("...", "picture"), ("/", "picture"),
      ("e\u{301}.jpg", "\u{e9}.jpg"), ("  a b .jpg ", "a b .jpg"),
      ("catalog.sqlite-journal.tif", "_catalog.sqlite-journal.tif"),
      ("Catalog.SQLite.tif", "_Catalog.SQLite.tif"), ("catalog.sqlite", "catalog.sqlite"),
      ("catalog.sqlite3.tif", "catalog.sqlite3.tif"), ("a.szi.pdf", "a-szi.pdf"),
      ("a.b.zip.tif", "a.b-zip.tif"),
      ("a.dzi .pdf", "a-dzi.pdf"), (".szi.pdf", "szi.pdf"), ("a.szi", "a.szi"), ("a.szip.tif", "a.szip.tif"),
    ])
  func names(given: String, expected: String) {
    #expect(UploadName.file(given).unicodeScalars.elementsEqual(expected.unicodeScalars))
    // What was made harmless once stays as it is: a record is checked by this after a restart.
    #expect(UploadName.file(UploadName.file(given)) == UploadName.file(given))
  }

  @Test(
    "a long name keeps its extension and fits into a file system", arguments: ["x", "\u{e9}", "\u{1f3de}"])
  func longNames(character: String) {
    let name = UploadName.file(String(repeating: character, count: 3000) + ".jpeg")
    #expect(name.utf8.count <= UploadName.maxLength)
    #expect(name.hasSuffix(".jpeg"))
    #expect(UploadName.file(name) == name)
  }

  @Test(
    "a folder is accepted unchanged or rejected",
    arguments: ["", "a", "a/b c/d", "caf\u{e9}", "catalog.sqlite3", "a/catalog.sqlite"])
  func folders(name: String) { #expect(UploadName.folder(name) == name) }

  @Test(
    "texts that no id may have are no folders",
    arguments: [
      "/a", "a/", "a//b", "..", "a/../b", ".a", "a/.\u{301}", "~", "~/a", "a\\b", "a\u{0}", " a",
      "a/\u{202e}b", "catalog.sqlite", "catalog.sqlite-journal", "catalog.sqlite-wal/a", "Catalog.Sqlite-SHM",
    ])
  func badFolders(name: String) { #expect(UploadName.folder(name) == nil) }
}
