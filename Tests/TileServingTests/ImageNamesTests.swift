import Glibc
import PyramidBuilding
import Testing
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTestSupport

@testable import ZigguratImageLibrary
@testable import ZigguratTileServing

/// Names of images, from the scan to URLs and the trash.
@Suite struct ImageNamesTests {
  private static let pieces = [
    "a", "b", ".", "~", " ", "%", "%2F", "+", "&", "?", "#", "\\", ":", "\"", "\n", "\r", "\u{e9}",
    "e\u{301}",
    "\u{301}", "\u{200d}", "\u{1f600}", ".szi", ".dzi", "_files", "\u{7f}", "\u{202e}",
  ]

  /// An empty file.
  private static func touch(_ path: String) throws {
    try FolderTree.make(parentFolder(path))
    let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StorageError("make \(path)", errno: errno) }
    close(descriptor)
  }

  @Test(
    "an image has the same id in a scan, URLs, the catalog, the library and its trash",
    arguments: 0..<20)
  func everyWay(run: Int) throws {
    let seed = SplitMix.runSeed &+ UInt64(run)
    var random = SplitMix(seed)
    let folder = try TemporaryFolder()
    let names = (0..<40).map { _ in
      (0...random.below(3)).map { _ in (0...random.below(4)).map { _ in random.pick(Self.pieces) }.joined() }
        .joined(separator: "/")
    }
    for name in names where ImageID(name) != nil { _ = try? Self.touch(folder("in/\(name).jpg")) }
    let scan = SourceScan([folder("in")], library: folder("out"))
    let ids = scan.sources.map(\.id)
    #expect(!ids.isEmpty && Set(ids).count == ids.count, "seed \(seed)")

    for id in ids {
      #expect(ImageID(id.text) == id, "seed \(seed): \(id)")
      for shown in [ImageReference(id, in: .library), ImageReference(id, in: .space)] {
        let escaped = PercentEncoding.encode(shown.text)
        let path = try NormalizedPath(Array("/view/\(escaped)".utf8))
        guard case .view(let range) = path.route else {
          Issue.record("seed \(seed): \(shown)")
          continue
        }
        #expect(path.reference(range) == shown, "seed \(seed): \(shown)")
      }
    }
    // One may be called as the folder of another's archive is, and is not built.
    let built = ids.filter { !$0.isHidden && (try? Self.touch($0.archive(in: folder("out")))) != nil }
      .sorted()
    #expect(built.count > ids.count / 2, "seed \(seed)")

    let table = try LibraryTable(root: folder("out"), previous: nil)
    #expect(table.ids == built, "seed \(seed)")
    for id in built { #expect(table.entry(id)?.path == id.archive(in: folder("out")), "seed \(seed): \(id)") }

    let catalog = try Catalog(library: folder("out"))
    try catalog.update(
      table.entries.map { CatalogEntry(unreadable: $0.id, fileVersion: $0.fileVersion) }, removing: [])
    #expect(try catalog.entries(built).map(\.id).sorted() == built, "seed \(seed)")
    var stamped: [Int?] = []
    try catalog.forEachFileVersion { id, _ in stamped.append(table.index(id)) }
    #expect(stamped.compactMap(\.self).sorted() == Array(built.indices), "seed \(seed)")

    let trash = TrashFolder(library: folder("out"))
    let (deletion, failures) = trash.take(built.map { $0.archive(in: folder("out")) })
    #expect(deletion?.images == built && failures.ids.isEmpty, "seed \(seed)")
    #expect(trash.deletions(since: 0).map(\.images) == [built], "seed \(seed)")
    let places = try trash.restore(#require(deletion).name, since: 0)
    #expect(places?.restored.map(\.id).sorted() == built, "seed \(seed)")
    #expect(try LibraryTable(root: folder("out"), previous: nil).ids == built, "seed \(seed)")
  }

  /// A page ended between two ids that `String` finds equal, and the next one began behind both.
  @Test func `pages of a list miss no image whose id differs by Unicode form`() throws {
    let folder = try TemporaryFolder()
    let ids: [ImageID] = ["cafe\u{301}", "caf\u{e9}"]
    for id in ids { try Self.touch(id.archive(in: folder.path)) }
    let table = try LibraryTable(root: folder.path, previous: nil)
    #expect(table.ids == ids)
    #expect(table.ids.partitioningIndex { $0.follows(ids[0].text) } == 1)
    #expect(ids.allSatisfy { table.entry($0)?.id == $0 })
  }

  @Test(
    "other texts are no ids in a path",
    arguments: ["..%2Fa", "a%2F%2Fb", "%2Fa", "a%2F", "a%2F.%2Fb"])
  func noIDs(text: String) throws {
    let path = try NormalizedPath(Array("/view/\(text)".utf8))
    guard case .view(let range) = path.route else {
      Issue.record("\(text)")
      return
    }
    #expect(path.reference(range) == nil)
  }
}
