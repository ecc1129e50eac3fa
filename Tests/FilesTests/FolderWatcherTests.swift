import Glibc
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct FolderWatchTests {
  private let folder: TemporaryFolder
  private let watch: FolderWatcher

  init() throws {
    folder = try TemporaryFolder()
    watch = try #require(FolderWatcher(root: folder.path))
    var status = stat()
    #expect(stat(folder.path, &status) == 0)
    watch.add(folder.path, device: status.st_dev)
  }

  @Test func `events name files that were created, removed or written`() throws {
    #expect(watch.isWhole && watch.events()?.files == [])
    _ = try folder.write("one.szi", [1])
    _ = try folder.write(".hidden", [1])
    #expect(watch.events()?.files == [folder("one.szi")])
    #expect(watch.events()?.folders == [])
    rename(folder("one.szi"), folder("zwei ü.szi"))
    #expect(watch.events()?.files == [folder("one.szi"), folder("zwei ü.szi")])
    unlink(folder("zwei ü.szi"))
    unlink(folder(".hidden"))
    #expect(watch.events()?.files == [folder("zwei ü.szi")])
  }

  @Test func `a watch is incomplete after a folder is created`() throws {
    mkdir(folder(".hidden"), 0o755)
    #expect(watch.events()?.folders == [folder.path])
    mkdir(folder("new"), 0o755)
    #expect(watch.events() == nil && !watch.isWhole)
    // What it missed from then on nobody knows.
    #expect(watch.events() == nil)
  }

  @Test func `a watch is incomplete if a folder cannot be watched`() {
    watch.add(folder("gone"), device: 1)
    #expect(!watch.isWhole && watch.events() == nil)
  }

  @Test func `file systems without change events have no watch`() {
    #expect(FolderWatcher(root: "/proc") == nil)
    #expect(FolderWatcher(root: folder("nothing")) == nil)
  }
}
