import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratMetadata
import ZigguratRepositorySupport
import ZigguratTestSupport

@testable import ZigguratImageLibrary

/// What every `ImageRepository` promises, held against each implementation.
@Suite struct RepositoryContractTests {
  /// A repository, and how images come to it and leave it.
  private struct Subject {
    let repository: any ImageRepository
    let add: (ImageID) throws -> Void
    let remove: (ImageID) throws -> Void

    /// Takes in what has changed, as a server does.
    func update() throws {
      _ = repository.refresh()
      try repository.updateCatalog()
    }
  }

  enum Kind: CaseIterable { case folder, list, sharedCatalog, memory }

  private let folder = try! TemporaryFolder()

  /// Archives below `folder/library`, listed by their files.
  private struct Files: LibrarySource, RowSource {
    let root: String

    private func ids() -> [ImageID] {
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
      return names.filter { $0.hasSuffix(".szi") }.compactMap { ImageID(String($0.dropLast(4))) }.sorted()
    }

    private func image(_ id: ImageID) -> SourceImage {
      let path = "\(root)/\(id).szi"
      return SourceImage(id: id, path: path) { () throws(StorageError) in
        try TileArchive(path: path, within: nil)
      }
    }

    func version() -> Int { ids().hashValue }
    func images() -> [SourceImage] { ids().map(image) }

    func image(_ row: ArchiveRow) -> SourceImage {
      let path = "\(root)/\(row.id).szi"
      let identity = FileIdentity(inode: row.generation, size: row.byteCount, modifiedNanoseconds: 0)
      return SourceImage(id: row.id, path: path, identity: identity) { () throws(StorageError) in
        try TileArchive(path: path, within: nil)
      }
    }

    func update(
      _ catalog: Catalog, isCancelled: () -> Bool, unreadable: (StorageError) -> Void
    ) throws(StorageError) -> Int {
      var change = ArchiveChange()
      for id in ids() {
        let archive: TileArchive
        do throws(StorageError) { archive = try TileArchive(path: "\(root)/\(id).szi", within: nil) } catch {
          unreadable(error)
          continue
        }
        let row = ArchiveRow(
          id: id, generation: archive.generation, digest: String(repeating: "0", count: 64), etag: "e",
          byteCount: 1, pyramid: archive.pyramid, format: archive.format, build: [], words: [])
        change.archives.append(row)
        change.entries.append(LibraryEntry(ofRow: image(row)).catalogEntry(archive))
      }
      var known: [ImageID] = []
      try catalog.forEachArchive { id, _ in known.append(id) }
      change.gone = known.filter { id in !change.archives.contains { $0.id == id } }
      try catalog.take(change, parts: ["1"], isWhole: true, in: catalog.making)
      catalog.isComplete(catalog.making)
      return change.archives.count
    }

    var figures: [SourceFigure] { [] }
    var outage: SourceOutage? { nil }
  }

  private static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!

  private static func tile(_ id: ImageID, _ number: Int) -> [UInt8] { Array("\(id) \(number)".utf8) }

  private func write(_ id: ImageID) throws {
    let path = folder("library/\(id).szi")
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    let writer = try SZIWriter(destination: path, name: id.name, pyramid: Self.pyramid, format: .png)
    for number in 0..<Self.pyramid.tileCount {
      try Self.tile(id, number).withUnsafeBytes { try writer.append(tile: number, $0, crc: checksum($0)) }
    }
    _ = try writer.finish()
  }

  private func subject(_ kind: Kind, _ ids: [ImageID]) throws -> Subject {
    let root = folder("library")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let remove: (ImageID) throws -> Void = { try FileManager.default.removeItem(atPath: "\(root)/\($0).szi") }
    let subject: Subject
    switch kind {
    case .folder:
      subject = Subject(repository: try FolderRepository(root: root), add: write, remove: remove)
    case .list:
      let list = try ListRepository(Files(root: root), name: "list")
      subject = Subject(repository: list, add: write, remove: remove)
    case .sharedCatalog:
      let schema = (folder.path as NSString).lastPathComponent
      let address = try PostgreSQLServer.shared.get().schema(schema)
      _ = try Catalog.migrate(postgreSQL: address)
      let shared = try SharedCatalogRepository(
        Files(root: root), name: "shared", catalog: Catalog(postgreSQL: address))
      subject = Subject(repository: shared, add: write, remove: remove)
    case .memory:
      let memory = try InMemoryRepository()
      subject = Subject(
        repository: memory,
        add: { id in
          let archive = TileArchive(inMemory: Self.pyramid) { Self.tile(id, $0) }
          try memory.add(archive, as: id)
        }, remove: { try memory.remove($0) })
    }
    for id in ids { try subject.add(id) }
    try subject.update()
    return subject
  }

  /// Waits as a request does.
  private func archive(_ id: ImageID, in repository: any ImageRepository) throws -> TileArchive? {
    repository.lookup(of: [id])?.wait()
    return try repository.archive(id)
  }

  private func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let latest = ContinuousClock.now + .seconds(60)
    while .now < latest {
      if try condition() { return true }
      usleep(50_000)
    }
    return false
  }

  private func listed(_ repository: any ImageRepository) throws -> [ImageID] {
    var (ids, cursor): ([ImageID], String?) = ([], nil)
    repeat {
      let page = try repository.list(LibrarySelection(), after: cursor, limit: 2)
      ids += page.entries.map(\.id)
      #expect(page.entries.count <= 2)
      cursor = page.next
    } while cursor != nil
    return ids
  }

  private static let ids: [ImageID] = ["a", "folder/b c", "é", "z"]

  @Test(arguments: Kind.allCases)
  func `an image is found by its id, with its own tiles`(kind: Kind) throws {
    let repository = try subject(kind, Self.ids).repository
    for id in Self.ids {
      let archive = try #require(try archive(id, in: repository))
      for number in 0..<Self.pyramid.tileCount {
        let address = try #require(Self.pyramid.address(at: number))
        #expect(try archive.tile(at: address) == Self.tile(id, number))
      }
      #expect(try repository.entry(id)?.id == id)
      #expect(try repository.catalogEntry(id)?.entry.pyramid == Self.pyramid)
      let same = try Array(id.text.utf8).withUnsafeBytes { bytes in
        try repository.archive(bytes, generation: archive.generation)
      }
      #expect(same?.generation == archive.generation)
      #expect(!repository.isUndecided(id))
    }
    #expect(repository.counted() == Self.ids.count)
    #expect(!repository.isEmpty && !repository.isAway && repository.outage == nil)
  }

  @Test(arguments: Kind.allCases)
  func `what does not exist is nil, and certainly so`(kind: Kind) throws {
    let repository = try subject(kind, Self.ids).repository
    for id in ["none", "folder", "a/b", "A"] as [ImageID] {
      #expect(try archive(id, in: repository) == nil)
      #expect(try repository.entry(id) == nil)
      #expect(!repository.isUndecided(id))
      #expect(!repository.hasLooseTiles(id))
    }
  }

  @Test(arguments: Kind.allCases)
  func `the list has each image once, in order, page by page`(kind: Kind) throws {
    let repository = try subject(kind, Self.ids).repository
    #expect(try listed(repository) == Self.ids.sorted())
  }

  @Test(arguments: Kind.allCases)
  func `what is added and removed is noticed, and each removal is reported once`(kind: Kind) throws {
    let subject = try subject(kind, Self.ids)
    let repository = subject.repository
    var mark = RemovalMark()
    var removed: [ImageID] = []
    try repository.removals(since: &mark) { removed += $0 }
    #expect(removed.isEmpty)
    #expect(try archive("a", in: repository) != nil)
    try subject.add("new")
    try subject.remove("a")
    try subject.update()
    #expect(try eventually { try archive("new", in: repository) != nil })
    #expect(try eventually { try archive("a", in: repository) == nil })
    #expect(try listed(repository) == (Self.ids + ["new"]).filter { $0 != "a" }.sorted())
    for _ in 0..<3 { try repository.removals(since: &mark) { removed += $0 } }
    #expect(removed == ["a"])
  }

  @Test(arguments: Kind.allCases)
  func `an image is edited, or the repository says that it is only read`(kind: Kind) throws {
    let repository = try subject(kind, Self.ids).repository
    _ = try archive("a", in: repository)
    let edit = try MetadataEdit(json: Array(#"{"title": "new"}"#.utf8))
    do throws(StorageError) {
      let outcome = try repository.edit("a", edit) { () throws(WordsUnavailable) in true }
      guard case .done = outcome else {
        Issue.record("\(outcome)")
        return
      }
      _ = try? archive("a", in: repository)
      #expect(try repository.catalogEntry("a")?.entry.metadata.title == "new")
      let refused = try repository.edit("z", edit) { () throws(WordsUnavailable) in false }
      guard case .changedMeanwhile = refused else {
        Issue.record("\(refused)")
        return
      }
    } catch { #expect(error == .libraryIsReadOnly) }
  }

  @Test(arguments: Kind.allCases)
  func `a deleted image comes back, or nothing is deleted`(kind: Kind) throws {
    let repository = try subject(kind, Self.ids).repository
    _ = try archive("a", in: repository)
    let trash = Trash(repository, keeps: 3600)
    let (deletion, refused) = try trash.delete(["a", "none"])
    guard let deletion else {
      #expect(refused == ["a", "none"])
      #expect(try archive("a", in: repository) != nil)
      return
    }
    #expect(deletion.images == ["a"] && refused == ["none"])
    #expect(try archive("a", in: repository) == nil)
    #expect(try !listed(repository).contains("a"))
    #expect(try trash.deletions().map(\.images) == [["a"]])
    #expect(try trash.restore(deletion.id)?.restored == ["a"])
    #expect(try archive("a", in: repository) != nil)
    #expect(try listed(repository) == Self.ids.sorted())
  }

  @Test(arguments: [Kind.folder, .list])
  func `a damaged archive is an error and is not listed`(kind: Kind) throws {
    let subject = try subject(kind, Self.ids)
    try folder.write("library/broken.szi", Array("PK".utf8))
    try subject.update()
    #expect(throws: StorageError.self) { try subject.repository.archive("broken") }
    #expect(try listed(subject.repository) == Self.ids.sorted())
    #expect(subject.repository.unreadableArchiveCount == 1)
    #expect(subject.repository.readableCount == Self.ids.count)
  }
}
