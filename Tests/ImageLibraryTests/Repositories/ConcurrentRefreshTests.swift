import Glibc
import Testing
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratImageLibrary

/// Files that were just written, while the watch looks at them.
@Suite struct ConcurrentRefreshTests {
  /// - Parameter looks: takes in what was just done to the image of that path.
  @Test(
    arguments: [
      { try $0.renew([("a", $1)]) },
      { library, _ in if library.refresh() { try library.updateCatalog() } },
    ] as [@Sendable (FolderRepository, String) throws -> Void])
  func `a client that opens an image finds it in the catalog`(
    _ look: @Sendable (FolderRepository, String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    // Also an archive that cannot be read has its row.
    let aside = folder(".aside")
    let path = try folder.write("a.szi", [1, 2, 3])
    let library = try FolderRepository(root: folder.path, watches: true)
    try library.updateCatalog()
    let isOver = OneShotEvent()
    let watched = OneShotEvent()
    StartedThread.needed {
      // As a server does.
      while !isOver.isSet {
        if library.refresh() { _ = try? library.updateCatalog() }
      }
      watched.set()
    }
    defer {
      isOver.set()
      watched.wait(upTo: 60)
    }
    for turn in 0..<300 {
      let isThere = turn % 2 == 1
      #expect(isThere ? rename(aside, path) == 0 : rename(path, aside) == 0)
      try look(library, path)
      #expect(try library.catalog.entries(["a"]).count == (isThere ? 1 : 0), "turn \(turn)")
    }
  }
}
