import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Archives and tiles behind symbolic links.
@Suite struct LinkedFilesTests {
  @Test func `archives and tiles behind links that leave the folder are not read`() throws {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    let elsewhere = try TemporaryFolder()
    try SmallArchive.write(to: elsewhere("a.szi"), SmallArchive.pyramid(9, 9, tileSize: 4))
    try files.createSymbolicLink(atPath: folder("a.szi"), withDestinationPath: elsewhere("a.szi"))
    let error = storageError {
      _ = try TileArchive(path: folder("a.szi"), within: RootDirectory(folder.path))
    }
    #expect(error?.description == "cannot open \(folder("a.szi")): a link leads out of the folder")
    #expect(try TileArchive(path: folder("a.szi")).hasEveryTile)

    let descriptor = DeepZoomDescriptor(pyramid: SmallArchive.pyramid(9, 9, tileSize: 4), format: .jpeg)
    try folder.write("d.dzi", descriptor.xml.utf8)
    for (name, text) in [
      ("d_files/4/1_1.jpg", "tile"), ("d_files/4/0_1.jpg", "tile"), ("d_files/3/1_0.jpg", "tile"),
    ] {
      try folder.write(name, text.utf8)
    }
    try elsewhere.write("secret.jpg", "secret".utf8)
    try elsewhere.write("2/0_0.jpg", "secret".utf8)
    try files.createSymbolicLink(
      atPath: folder("d_files/4/0_0.jpg"), withDestinationPath: elsewhere("secret.jpg"))
    try files.createSymbolicLink(atPath: folder("d_files/4/1_0.jpg"), withDestinationPath: "1_1.jpg")
    try files.createSymbolicLink(atPath: folder("d_files/2"), withDestinationPath: elsewhere("2"))
    // With a library around it and as a file of its own.
    for enclosure in [try RootDirectory(folder.path), nil] {
      let archive = try TileArchive(path: folder("d.dzi"), within: enclosure)
      func tile(_ level: Int, _ column: Int, _ row: Int) -> [UInt8]? {
        archive.tileIndex(level: level, column: column, row: row).flatMap { archive.copy($0) }
      }
      #expect(tile(4, 1, 1) == Array("tile".utf8))
      #expect(tile(4, 1, 0) == Array("tile".utf8))
      #expect(tile(4, 0, 0) == nil)
      #expect(tile(2, 0, 0) == nil)
      // It exists: an unread tile is an error, not an omitted tile.
      let number = try #require(archive.tileIndex(level: 4, column: 0, row: 0))
      guard case .unreadable = archive.stored(number) else {
        Issue.record("\(archive.stored(number))")
        continue
      }
    }
  }
}
