import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

@Suite struct TileArchiveWriterTests {
  private let folder: TemporaryFolder
  private let pyramid = SmallArchive.pyramid(5, 3, tileSize: 2)

  init() throws { folder = try TemporaryFolder() }

  /// The kind of the error that `body` throws; `nil` if it throws none.
  private func kind(_ body: () throws -> Void) -> ArchiveError.Kind? {
    do {
      try body()
      return nil
    } catch { return (error as? ArchiveError)?.kind }
  }

  private func append(
    _ writer: inout TileArchiveWriter, _ address: TileAddress, _ bytes: [UInt8]
  ) throws(ArchiveError) {
    try writer.append(tile: address, bytes.span.bytes)
  }

  private func refused(
    _ writer: inout TileArchiveWriter, _ address: TileAddress, _ bytes: [UInt8]
  ) -> ArchiveError.Kind? {
    do throws(ArchiveError) {
      try append(&writer, address, bytes)
      return nil
    } catch { return error.kind }
  }

  private func write(to path: String, skipping skipped: Int? = nil) throws -> Int {
    var writer = try TileArchiveWriter(
      path: path, name: "small", pyramid: pyramid, format: .png, micronsPerPixel: Point(x: 0.25, y: 0.5))
    for index in (0..<pyramid.tileCount).reversed() where index != skipped {
      try append(&writer, pyramid.address(at: index)!, SmallArchive.tile(index))
    }
    try writer.append(entry: "associated_images/label.jpg", Array("a label".utf8).span.bytes)
    return try writer.finish()
  }

  @Test func `what is written by address is read by address, and another program finds no error`() throws {
    let size = try write(to: folder("a.szi"))
    #expect(size == (try bytes(ofFile: folder("a.szi")).count))
    try Tool.check(["unzip", "-tqq", folder("a.szi")])
    let archive = try TileArchive(path: folder("a.szi"))
    for index in 0..<pyramid.tileCount {
      let address = pyramid.address(at: index)!
      #expect(try archive.tile(at: address) == SmallArchive.tile(index))
      #expect(
        try archive.withTile(at: address) { $0.withUnsafeBytes { Array($0) } } == SmallArchive.tile(index))
    }
    #expect(try archive.entry(named: "associated_images/label.jpg") == Array("a label".utf8))
    #expect(try archive.entry(named: "none") == nil)
    #expect(archive.micronsPerPixel == Point(x: 0.25, y: 0.5))
    #expect(archive.metadata == ImageMetadata())
    #expect(folder.files() == ["a.szi"])
  }

  @Test func `a writer that does not finish leaves the former archive as it was`() throws {
    try folder.write("a.szi", Array("former".utf8))
    #expect(kind { _ = try write(to: folder("a.szi"), skipping: 3) } == .invalidArgument)
    do {
      var writer = try TileArchiveWriter(path: folder("a.szi"), name: "a", pyramid: pyramid, format: .png)
      try append(&writer, TileAddress(level: 0, column: 0, row: 0), [1])
    }
    #expect(folder.files() == ["a.szi"])
    #expect(try bytes(ofFile: folder("a.szi")) == Array("former".utf8))
  }

  @Test(arguments: ["a/b", "", ".", "..", "a\0b", "a\\b", String(repeating: "a", count: 256)])
  func `a name that is no path component is refused`(name: String) {
    let kind = kind {
      _ = try TileArchiveWriter(path: folder("a.szi"), name: name, pyramid: pyramid, format: .png).finish()
    }
    #expect(kind == .invalidArgument)
    #expect(folder.files() == [])
  }

  @Test func `a pyramid with overlap, too many tiles, an impossible scale, or a missing folder is refused`() {
    func kind(_ pyramid: Pyramid, _ path: String = "a.szi", _ microns: Point? = nil) -> ArchiveError.Kind? {
      self.kind {
        _ = try TileArchiveWriter(
          path: folder(path), name: "a", pyramid: pyramid, format: .png, micronsPerPixel: microns
        ).finish()
      }
    }
    let size = PixelSize(width: 5, height: 3)!
    #expect(kind(Pyramid(imageSize: size, tileSize: 2, overlap: 1)!) == .invalidArgument)
    #expect(kind(SmallArchive.pyramid(1 << 20, 1 << 20, tileSize: 1)) == .invalidArgument)
    #expect(kind(pyramid, "a.szi", Point(x: 0, y: 1)) == .invalidArgument)
    #expect(kind(pyramid, "a.szi", Point(x: 1, y: .nan)) == .invalidArgument)
    #expect(kind(pyramid, "none/a.szi") == .notFound)
    #expect(folder.files() == [])
  }

  @Test func `wrong tiles and entries are refused, and the writer goes on`() throws {
    var writer = try TileArchiveWriter(path: folder("a.szi"), name: "small", pyramid: pyramid, format: .png)
    let top = pyramid.topLevel
    for (level, column, row) in [(top, 3, 0), (top, 0, 2), (top, -1, 0), (top + 1, 0, 0), (-1, 0, 0)] {
      let address = TileAddress(level: level, column: column, row: row)
      let kind = refused(&writer, address, [1])
      #expect(kind == .invalidArgument)
    }
    for index in 0..<pyramid.tileCount {
      let address = pyramid.address(at: index)!
      let empty = refused(&writer, address, [])
      let first = refused(&writer, address, SmallArchive.tile(index))
      let second = refused(&writer, address, SmallArchive.tile(index))
      #expect([empty, first, second] == [.invalidArgument, nil, .invalidArgument])
    }
    try writer.append(entry: "note", [UInt8](arrayLiteral: 1, 2).span.bytes)
    for name in [
      "note", "", "/note", "a//b", "../note", "a/./b", "small.dzi", "small_files/0/0_0.png",
      "scan-properties.xml",
      "a\0", "a\\b", "a/", String(repeating: "n", count: 1025),
    ] {
      do throws(ArchiveError) {
        try writer.append(entry: name, [UInt8](arrayLiteral: 1).span.bytes)
        Issue.record("'\(name)' is taken")
      } catch { #expect(error.kind == .invalidArgument) }
    }
    _ = try writer.finish()
    let archive = try TileArchive(path: folder("a.szi"))
    #expect(archive.entryNames == ["note", "scan-properties.xml", "small.dzi"])
    #expect(archive.hasEveryTile)
  }
}

/// Reads by address of archives that are not as they were when they were opened.
@Suite struct CopyingReadTests {
  private let folder: TemporaryFolder
  private let pyramid = SmallArchive.pyramid(5, 3, tileSize: 2)

  init() throws { folder = try TemporaryFolder() }

  private func kind(_ archive: TileArchive, _ index: Int) -> ArchiveError.Kind? {
    do throws(ArchiveError) {
      _ = try archive.tile(at: pyramid.address(at: index)!)
      return nil
    } catch { return error.kind }
  }

  @Test func `an archive that is cut short after it was opened throws for each tile that is gone`() throws {
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

  @Test func `addresses outside the pyramid are refused, tiles that were left out are nil`() throws {
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
    // Each tile is a file of its own, which is read anew.
    #expect(truncate(folder("image_files/\(top)/0_0.png"), 0) == 0)
    #expect { try archive.tile(at: address) } throws: { ($0 as? ArchiveError)?.kind == .damaged }
  }

  @Test func `what cannot be opened says of which kind the error is`() throws {
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
