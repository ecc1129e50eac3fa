import Foundation
import Testing
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratFiles

@Suite struct TrashFolderTests {
  private let folder = try! TemporaryFolder()
  private var trash: TrashFolder { TrashFolder(library: folder.path) }

  @Test func `a file is copied across mounts and then removed`() throws {
    // More than is read at a time.
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    try folder.write("from/a.szi", bytes)
    try folder.write("to/other.szi", [])
    let time = timespec(tv_sec: 1_000_000, tv_nsec: 5)
    #expect(utimensat(AT_FDCWD, folder("from/a.szi"), [time, time], 0) == 0)
    #expect(chmod(folder("from/a.szi"), 0o640) == 0)
    try trash.moveAcrossMounts(folder("from/a.szi"), folder("to/a.szi"))
    #expect(folder.files(below: "from").isEmpty)
    #expect(folder.files(below: "to").sorted() == ["a.szi", "other.szi"])
    #expect(try Array(Data(contentsOf: URL(fileURLWithPath: folder("to/a.szi")))) == bytes)
    var status = stat()
    #expect(stat(folder("to/a.szi"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o640)
    #expect(status.st_mtim.tv_sec == time.tv_sec && status.st_mtim.tv_nsec == time.tv_nsec)
  }

  @Test func `a file that cannot be copied stays, and leaves nothing`() throws {
    try folder.write("from/a.szi", [1, 2, 3])
    #expect(throws: StorageError.self) {
      try trash.moveAcrossMounts(folder("from/a.szi"), folder("none/a.szi"))
    }
    try FileManager.default.createSymbolicLink(atPath: folder("from/b.szi"), withDestinationPath: "a.szi")
    try folder.write("to/other.szi", [])
    #expect(throws: StorageError.self) {
      try trash.moveAcrossMounts(folder("from/b.szi"), folder("to/b.szi"))
    }
    #expect(folder.files(below: "from").sorted() == ["a.szi", "b.szi"])
    #expect(folder.files(below: "to") == ["other.szi"])
  }

  @Test func `an expired deletion is neither listed nor restored`() throws {
    try folder.write("a.szi", [1])
    let deletion = try #require(trash.take([folder("a.szi")], at: 1000).deletion)
    #expect(deletion == Deletion(name: deletion.name, images: ["a"], time: 1000))
    #expect(trash.deletions(since: 999) == [deletion] && trash.deletions(since: 1000).isEmpty)
    #expect(try trash.restore(deletion.name, since: 1000) == nil)
    trash.purge(until: 999)
    #expect(try trash.restore(deletion.name, since: 999)?.restored.map(\.id) == deletion.images)
  }

  @Test("nothing expires while something is deleted or restored")
  func purgeInUse() throws {
    try folder.write("a.szi", [1])
    let deletion = try #require(trash.take([folder("a.szi")], at: 1000).deletion)
    // As another process that deletes something has it.
    var lock: DirectoryLock? = try DirectoryLock(folder(".ziggurat-trash"), isShared: true)
    trash.purge(until: 2000)
    #expect(trash.deletions(since: 0) == [deletion])
    withExtendedLifetime(lock) {}
    lock = nil
    trash.purge(until: 2000)
    #expect(trash.deletions(since: 0).isEmpty)
    #expect(folder.files(below: ".ziggurat-trash").isEmpty)
  }

  @Test("a folder with the name of a sidecar is neither deleted nor restored with the image")
  func folderLikeSidecar() throws {
    try folder.write("a.szi", [1])
    try folder.write("a.szi.xmp", [2])
    try folder.write("a.xmp/other.szi", [3])
    let deletion = try #require(trash.take([folder("a.szi")]).deletion)
    #expect(folder.files(below: "").filter { !$0.hasPrefix(".") } == ["a.xmp/other.szi"])
    #expect(try trash.restore(deletion.name, since: 0)?.restored.map(\.id) == ["a"])
    let files = folder.files(below: "").filter { !$0.hasPrefix(".") }.sorted()
    #expect(files == ["a.szi", "a.szi.xmp", "a.xmp/other.szi"])
  }

  @Test func `an image that cannot be moved does not block the others`() throws {
    for name in ["a", "b", "c"] { try folder.write("\(name).szi", [1]) }
    // Of a name that the trash, whose paths are longer, cannot have.
    let deep = Array(repeating: String(repeating: "d", count: 200), count: 19).joined(separator: "/")
    let room = 4090 - folder(deep).utf8.count
    let long = "\(deep)/\(String(repeating: "x", count: room - 10)).szi"
    try folder.write(long, [1])
    let (deletion, failures) = trash.take(["a.szi", long, "gone.szi", "b.szi"].map { folder($0) })
    #expect(deletion?.images == ["a", "b"])
    #expect(failures.ids == ["\(long.dropLast(4))"] && failures.errors.count == 1)
    #expect(trash.deletions(since: 0).map(\.images) == [["a", "b"]])
    #expect(access(folder(long), F_OK) == 0 && access(folder("c.szi"), F_OK) == 0)
  }
}
