import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Reads by address of archives that are not as they were when they were opened.
@Suite struct TileArchiveReadingTests {
  private let folder: TemporaryFolder
  private let pyramid = SmallArchive.pyramid(5, 3, tileSize: 2)

  init() throws { folder = try TemporaryFolder() }

  private func kind(_ archive: TileArchive, _ index: Int) -> ArchiveError.Kind? {
    do throws(ArchiveError) {
      _ = try archive.tile(at: pyramid.address(at: index)!)
      return nil
    } catch { return error.kind }
  }

  @Test func `an archive truncated after opening throws for each lost tile`() throws {
    let path = folder("a.szi")
    try SmallArchive.write(to: path, pyramid)
    let archive = try TileArchive(path: path)
    // The first tile of the file is whole within so many bytes; all others lie behind them.
    let name = "small/small_files/0/0_0.jpg"
    #expect(truncate(path, 30 + name.utf8.count + SmallArchive.tile(0).count) == 0)
    #expect(try archive.tile(at: pyramid.address(at: 0)!) == SmallArchive.tile(0))
    for index in 1..<pyramid.tileCount { #expect(kind(archive, index) == .damaged) }
    #expect(throws: ArchiveError.self) { try archive.entry(named: "vendor/note") }
    #expect(truncate(path, 0) == 0)
    #expect(kind(archive, 0) == .damaged)
  }

  @Test func `a tile whose bytes were changed is damaged`() throws {
    let path = folder("a.szi")
    try SmallArchive.write(to: path, pyramid)
    let archive = try TileArchive(path: path)
    var bytes = try bytes(ofFile: path)
    let start = 30 + "small/small_files/0/0_0.jpg".utf8.count
    bytes[start] ^= 1
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: bytes)
    #expect(kind(archive, 0) == .damaged)
    #expect(kind(archive, 1) == nil)
    // Replaced by renaming, the archive that is open stays what it was.
    try SmallArchive.write(to: path, pyramid)
    #expect(kind(archive, 0) == .damaged)
    #expect(try TileArchive(path: path).tile(at: pyramid.address(at: 0)!) == SmallArchive.tile(0))
  }

  @Test func `addresses outside the pyramid are rejected, and omitted tiles are nil`() throws {
    let path = try folder.write(
      "image.dzi", Array(DeepZoomDescriptor(pyramid: pyramid, format: .png).xml.utf8))
    let top = pyramid.topLevel
    try folder.write("image_files/\(top)/0_0.png", [1, 2, 3])
    try folder.write("image_files/\(top)/1_0.png", [4])
    let archive = try TileArchive(path: path)
    let address = TileAddress(level: top, column: 0, row: 0)
    #expect(try archive.tile(at: address) == [1, 2, 3])
    #expect(try archive.withTile(at: address) { $0.byteCount } == 3)
    let leftOut = TileAddress(level: top, column: 1, row: 1)
    #expect(try archive.tile(at: leftOut) == nil)
    #expect(try archive.withTile(at: leftOut) { $0.byteCount } == nil)
    for outside in [
      TileAddress(level: top, column: 3, row: 0), TileAddress(level: -1, column: 0, row: 0),
      TileAddress(level: top + 1, column: 0, row: 0), TileAddress(level: 0, column: .max, row: .min),
    ] {
      #expect { try archive.tile(at: outside) } throws: { ($0 as? ArchiveError)?.kind == .invalidArgument }
      #expect { try archive.withTile(at: outside) { _ in } } throws: {
        ($0 as? ArchiveError)?.kind == .invalidArgument
      }
    }
    // Each tile is a file of its own, which is read again.
    #expect(truncate(folder("image_files/\(top)/0_0.png"), 0) == 0)
    #expect { try archive.tile(at: address) } throws: { ($0 as? ArchiveError)?.kind == .damaged }
  }

  @Test func `an archive that cannot be opened throws an error of the right kind`() throws {
    func kind(_ path: String) -> ArchiveError.Kind? {
      do throws(ArchiveError) {
        _ = try TileArchive(path: path)
        return nil
      } catch { return error.kind }
    }
    #expect(kind(folder("none.szi")) == .notFound)
    #expect(kind(try folder.write("text.szi", Array("no archive".utf8))) == .damaged)
    #expect(kind("/dev/null") == .damaged)
    #expect(ArchiveError(StorageError("write a", errno: ENOSPC)).kind == .diskFull)
    #expect(ArchiveError(StorageError("write a", errno: EACCES)).kind == .accessDenied)
    #expect(ArchiveError(StorageError("write a", errno: EMFILE)).kind == .unavailable)
    #expect(ArchiveError(StorageError("write a", errno: ELOOP)).kind == .other)
    #expect(
      ArchiveError(StorageError("open a.szi", errno: ENOENT)).description
        == "cannot open a.szi: No such file or directory")
  }
}
