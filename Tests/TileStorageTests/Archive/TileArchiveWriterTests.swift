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

  @Test func `tiles written by address are read by address, and another program finds no error`() throws {
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

  @Test func `a writer that does not finish keeps the former archive`() throws {
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
  func `a name that is no path component is rejected`(name: String) {
    let kind = kind {
      _ = try TileArchiveWriter(path: folder("a.szi"), name: name, pyramid: pyramid, format: .png).finish()
    }
    #expect(kind == .invalidArgument)
    #expect(folder.files() == [])
  }

  @Test func `overlap, too many tiles, an impossible scale or a missing folder is rejected`() {
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

  @Test func `wrong tiles and entries are rejected, and the writer continues`() throws {
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
