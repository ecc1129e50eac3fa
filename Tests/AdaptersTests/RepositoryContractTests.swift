import Synchronization
import Testing
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratMetadata
import ZigguratTestSupport

/// The contract of `ImageRepository`, held against each implementation over its real storage.
@Suite struct RepositoryContractTests {
  private let folder = try! TemporaryFolder()
  private static let ids: [ImageID] = ["a", "folder/b c", "é", "z"]

  private func open(_ kind: StorageKind, _ ids: [ImageID] = ids) throws -> Server {
    let server = try kind.storage(in: folder).open()
    for id in ids { try server.storage.write(id, version: 1) }
    try server.update()
    return server
  }

  /// Waits until other servers would have taken in a change.
  private func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let latest = ContinuousClock.now + .seconds(60)
    while .now < latest {
      if try condition() { return true }
      OneShotEvent().wait(upTo: 0.05)
    }
    return false
  }

  // MARK: Finding images

  @Test(arguments: StorageKind.allCases)
  func `an image is found by its id, with its own tiles`(kind: StorageKind) throws {
    let server = try open(kind)
    let repository = server.repository
    for id in Self.ids {
      let archive = try #require(try server.archive(id))
      #expect(VersionedImage.content(id, of: archive) == .version(1))
      #expect(try repository.entry(id)?.id == id)
      #expect(try repository.catalogEntry(id)?.entry.pyramid == VersionedImage.pyramid)
      let same = try Array(id.text.utf8).withUnsafeBytes { bytes in
        try repository.archive(bytes, generation: archive.generation)
      }
      #expect(same?.generation == archive.generation)
      #expect(!repository.isUndecided(id))
    }
    #expect(repository.counted() == Self.ids.count)
    #expect(!repository.isEmpty && !repository.isAway && repository.outage == nil)
  }

  @Test(arguments: StorageKind.allCases)
  func `an image that does not exist is nil`(kind: StorageKind) throws {
    let server = try open(kind)
    for id in ["none", "folder", "a/b", "A"] as [ImageID] {
      #expect(server.content(id) == .missing)
      #expect(try server.repository.entry(id) == nil)
      #expect(!server.repository.isUndecided(id))
      #expect(!server.repository.hasLooseTiles(id))
    }
  }

  @Test(arguments: StorageKind.real)
  func `a damaged archive is unreadable, and the others are served`(kind: StorageKind) throws {
    let server = try open(kind)
    try server.storage.write("broken", version: 1)
    try server.update()
    server.repository.lookup(of: ["broken"])?.wait()
    try server.storage.damage(try #require(try server.repository.entry("broken")).path)
    server.repository.reload()
    #expect(try eventually { server.content("broken") == .damaged })
    #expect(server.repository.isUndecided("broken") == false)
    for id in Self.ids { #expect(server.content(id) == .version(1)) }
    if kind != .objectStore, kind != .sharedCatalog {
      // A library in a store is listed without a look at the archives.
      #expect(try server.ids() == Self.ids.sorted())
      #expect(server.repository.unreadableArchiveCount == 1)
      #expect(server.repository.readableCount == Self.ids.count)
    }
    try server.storage.write("broken", version: 2)
    try server.update()
    #expect(try eventually { server.content("broken") == .version(2) })
    #expect(try server.ids() == (Self.ids + ["broken"]).sorted())
    #expect(server.repository.unreadableArchiveCount == 0)
  }

  @Test(arguments: StorageKind.real)
  func `images of a storage that does not answer are unreachable`(kind: StorageKind) throws {
    let server = try open(kind)
    // The catalog of the servers still answers. No archive is open.
    for id in Self.ids { server.repository.lookup(of: [id])?.wait() }
    try server.storage.cutOff(true)
    for id in Self.ids { #expect(server.content(id) == .unreachable) }
    try? server.update()
    for id in Self.ids { #expect(server.content(id) == .unreachable) }
    let none = server.content("none")
    #expect(none == .missing || none == .unreachable)
    #expect(server.repository.unreadableArchiveCount == 0)
    var mark = RemovalMark()
    try server.repository.removals(since: &mark) { #expect($0 == []) }
    try server.storage.cutOff(false)
    for id in Self.ids {
      #expect(
        try eventually {
          try server.update()
          return server.content(id) == .version(1)
        })
    }
    #expect(try server.ids() == Self.ids.sorted())
    try server.repository.removals(since: &mark) { #expect($0 == []) }
  }

  // MARK: Listing

  @Test(arguments: StorageKind.allCases)
  func `the list has each image once, in order, page by page`(kind: StorageKind) throws {
    let ids: [ImageID] = [
      "a", "A", "a b", "a!b", "a/1", "a/2", "a/10", "a/é", "é", "e\u{301}", "ü/ö ä", "100%", "%41", "x+y",
      "-", "'\"<&>",
      "\\", "tab\tname", "😀", "名前/絵", "01", "1", "2", "10", "\u{202e}x", "a.b", "..a/x", "_",
      try #require(ImageID(String(repeating: "long", count: 50))),
    ].filter { !$0.isHidden && (kind != .privateSpace || $0 != "e\u{301}") }
    let server = try open(kind, ids)
    for limit in [1, 2, 3, 7, ids.count - 1, ids.count, ids.count + 1] {
      #expect(try server.ids(limit: limit) == ids.sorted(), "pages of \(limit)")
    }
    let page = try server.repository.list(LibrarySelection(), after: nil, limit: 2)
    #expect(page.entries.count == 2 && page.total == ids.count)
    for id in ids { #expect(server.content(id) == .version(1)) }
  }

  // MARK: Changes by builders

  @Test(arguments: StorageKind.allCases)
  func `each removal is reported once, and each new image is found`(kind: StorageKind) throws {
    let server = try open(kind)
    let repository = server.repository
    var mark = RemovalMark()
    var removed: [ImageID] = []
    try repository.removals(since: &mark) { removed += $0 }
    #expect(removed.isEmpty)
    #expect(server.content("a") == .version(1))
    try server.storage.write("new", version: 1)
    try server.storage.remove("a")
    try server.storage.write("z", version: 2)
    try server.update()
    #expect(try eventually { server.content("new") == .version(1) })
    #expect(try eventually { server.content("a") == .missing })
    #expect(try server.ids() == (Self.ids + ["new"]).filter { $0 != "a" }.sorted())
    for _ in 0..<3 { try repository.removals(since: &mark) { removed += $0 } }
    #expect(removed == ["a"])
    try server.storage.write("a", version: 3)
    try server.update()
    #expect(try eventually { server.content("a") == .version(3) })
    for _ in 0..<2 { try repository.removals(since: &mark) { removed += $0 } }
    // A shared catalog reports it again: another image may have had the id in between.
    #expect(removed == ["a"] || kind == .sharedCatalog && removed == ["a", "a"])
  }

  @Test(arguments: StorageKind.allCases)
  func `a replaced archive has another generation, and a reader of the old one keeps it`(
    kind: StorageKind
  ) throws {
    let server = try open(kind)
    let old = try #require(try server.archive("a"))
    let version = try server.repository.entry("a")?.fileVersion
    try server.storage.write("a", version: 2)
    try server.update()
    #expect(try eventually { server.content("a") == .version(2) })
    let new = try #require(try server.archive("a"))
    #expect(new.generation != old.generation)
    #expect(try server.repository.entry("a")?.fileVersion != version)
    #expect(VersionedImage.content("a", of: old) == .version(1))
    // The URL of the old version: a shared catalog keeps it for a day.
    #expect(
      server.content("a", generation: old.generation) == .version(kind == .sharedCatalog ? 1 : 2))
    #expect(server.content("a", generation: new.generation) == .version(2))
    #expect(server.content("a", generation: old.generation ^ new.generation ^ 1) == .version(2))
    // The same version again is no other one.
    try server.storage.write("a", version: 2)
    try server.update()
    #expect(try eventually { server.content("a") == .version(2) })
    // Each sealing has a generation of its own.
    #expect(try server.archive("a")?.generation == new.generation || kind == .privateSpace)
    #expect(try server.ids() == Self.ids.sorted())
  }

  // MARK: Changes by visitors

  @Test(arguments: StorageKind.allCases)
  func `an image is edited if it is still current`(kind: StorageKind) throws {
    let server = try open(kind)
    guard StorageKind.editable.contains(kind) else {
      #expect(throws: StorageError.libraryIsReadOnly) { try server.edit("a", title: "new") }
      return
    }
    #expect(try server.edit("a", title: "new") == .done)
    #expect(try eventually { try server.title("a") == "new" })
    #expect(try server.listed().first { $0.id == "a" }?.title == "new")
    #expect(try server.edit("a", title: "other") { false } == .changedMeanwhile)
    #expect(
      try server.edit("a", title: "other") { () throws(MetadataUnavailable) in throw MetadataUnavailable() }
        == .unavailable)
    #expect(try server.title("a") == "new")
    #expect(try server.edit("none", title: "new") == .notFound)
    #expect(server.content("a") == .version(1))
  }

  @Test(arguments: StorageKind.editable)
  func `two servers that edit one image at once do not overwrite each other`(kind: StorageKind) throws {
    let first = try open(kind)
    let second = try first.storage.open()
    try second.update()
    #expect(try first.edit("a", title: "0") == .done)
    let outcomes = Mutex<[LibraryEditor.Outcome]>([])
    let errors = Mutex<[String]>([])
    StartedThread.several(4) { number in
      let server = number % 2 == 0 ? first : second
      for _ in 0..<12 {
        do throws(StorageError) {
          try server.update()
          guard let seen = try server.title("a"), let count = Int(seen) else { continue }
          let outcome = try server.edit("a", title: String(count + 1)) {
            // As the condition of a request does.
            (try? server.repository.catalogEntry("a")?.entry.metadata.title) == seen
          }
          outcomes.withLock { $0.append(outcome) }
        } catch  where server.repository.hasOneWriter && error.kind == .unreachable {
          // Another server writes the catalog.
        } catch { errors.withLock { $0.append("\(error)") } }
      }
    }
    #expect(errors.withLock { $0 } == [])
    let done = outcomes.withLock { $0.count { $0 == .done } }
    #expect(done > 0 && outcomes.withLock { $0.allSatisfy { $0 == .done || $0 == .changedMeanwhile } })
    for server in [first, second] {
      #expect(
        try eventually {
          try server.update()
          return try server.title("a") == String(done)
        }, "\(done) edits are done")
    }
  }

  @Test(arguments: StorageKind.allCases)
  func `a deleted image is restored, or nothing is deleted`(kind: StorageKind) throws {
    let server = try open(kind)
    let (deletion, refused) = try server.trash.delete(["a", "none"])
    guard let deletion else {
      #expect(!StorageKind.editable.contains(kind))
      #expect(refused == ["a", "none"])
      #expect(server.content("a") == .version(1))
      return
    }
    #expect(StorageKind.editable.contains(kind))
    #expect(deletion.images.map(\.id) == ["a"] && refused == ["none"])
    #expect(try eventually { server.content("a") == .missing })
    #expect(try !server.ids().contains("a"))
    #expect(try server.trash.deletions().map(\.id) == [deletion.id])
    #expect(try server.trash.restore("\(deletion.id)0") == nil)
    #expect(try server.trash.restore(deletion.id)?.restored == ["a"])
    #expect(try eventually { server.content("a") == .version(1) })
    #expect(try server.ids() == Self.ids.sorted())
    #expect(try server.trash.deletions().isEmpty)
    #expect(try server.trash.restore(deletion.id) == nil)
  }

  @Test(arguments: StorageKind.editable)
  func `a deleted image whose id is taken stays deleted until the id is free`(kind: StorageKind) throws {
    let server = try open(kind)
    #expect(try server.edit("a", title: "first") == .done)
    let deletion = try #require(try server.trash.delete(["a", "z"]).deletion)
    try server.storage.write("a", version: 2)
    try server.update()
    #expect(try eventually { server.content("a") == .version(2) })
    let result = try #require(try server.trash.restore(deletion.id))
    #expect(result.restored == ["z"] && result.conflicts == ["a"])
    try server.update()
    #expect(server.content("a") == .version(2))
    #expect(try server.title("a") == nil)
    #expect(try server.trash.deletions().map { $0.images.map(\.id) } == [["a"]])
    try server.storage.remove("a")
    try server.update()
    #expect(try eventually { server.content("a") == .missing })
    #expect(try server.trash.restore(deletion.id)?.restored == ["a"])
    try server.update()
    #expect(try eventually { try server.content("a") == .version(1) && server.title("a") == "first" })
    #expect(try server.ids() == Self.ids.sorted())
    #expect(try server.trash.deletions().isEmpty)
  }

  @Test(arguments: StorageKind.allCases)
  func `an id is reserved if no image has it`(kind: StorageKind) throws {
    let server = try open(kind)
    let repository = server.repository
    guard kind != .objectStore, kind != .privateSpace else {
      #expect(throws: StorageError.libraryIsReadOnly) { try repository.reserve("new", for: "upload") }
      return
    }
    #expect(try !repository.reserve("a", for: "upload"))
    #expect(try repository.reserve("new", for: "upload"))
    #expect(try repository.reserve("new", for: "upload"))
    try repository.release(uploads: ["upload"])
    #expect(try repository.reserve("new", for: "other"))
  }
}
