import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage

@Suite struct SZIRoundTripTests {
  @Test(arguments: [
    (1, 1, 1), (1, 1, 512), (2, 1, 1), (5, 3, 2), (1, 50, 8), (64, 64, 64), (65, 63, 64), (40, 30, 3),
  ])
  func `every tile is read back as it was written`(width: Int, height: Int, tileSize: Int) throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(width, height, tileSize: tileSize)
    for format in TileFormat.allCases {
      let size = try SmallArchive.write(to: folder("a.szi"), name: "night watch", pyramid, format: format)
      let archive = try TileArchive(path: folder("a.szi"))
      #expect(archive.name == "night watch")
      #expect(archive.pyramid == pyramid)
      #expect(archive.format == format)
      #expect(archive.fileExtension == format.fileExtension)
      #expect(archive.byteCount == size)
      for index in 0..<pyramid.tileCount {
        let address = pyramid.address(at: index)!
        #expect(
          archive.tileIndex(level: address.level, column: address.column, row: address.row) == index)
        #expect(archive.copy(index) == SmallArchive.tile(index))
      }
      #expect(archive.hasEveryTile)
      #expect(archive.entryNames == ["night watch.dzi", "scan-properties.xml", "vendor/note"])
      #expect(archive.entry("vendor/note").map { Array($0) } == Array("a note".utf8))
      #expect(archive.entryNames.allSatisfy(archive.isIntact))
    }
  }

  @Test func `a position outside the pyramid is nil, not another tile`() throws {
    let folder = try TemporaryFolder()
    let archive = try TileArchive(path: SmallArchive.write(5, 3, tileSize: 2, in: folder))
    let top = archive.pyramid.topLevel
    for (level, column, row) in [
      (-1, 0, 0), (top + 1, 0, 0), (top, 3, 0), (top, 0, 2), (top, -1, 0), (top, 0, -1), (0, 1, 0), (0, 0, 1),
      (Int.max, 0, 0), (Int.min, 0, 0), (top, Int.max, Int.max), (top, Int.min, 0),
    ] {
      #expect(archive.tileIndex(level: level, column: column, row: row) == nil)
    }
    for index in [-1, archive.pyramid.tileCount, Int.max, Int.min] {
      #expect(archive.tile(index) == nil)
      #expect(archive.checksum(ofTile: index) == nil)
    }
    #expect(archive.entry("absent") == nil)
    #expect(!archive.isIntact("absent"))
  }

  /// A name of a folder comes from a file's name, which may be anything but `/`.
  @Test(arguments: ["é", "日本語", "a b&c<d>\"'", "..", "名.dzi", "%2F", "e\u{301}", "\\", "*", "a\nb", "🏔"])
  func `a root folder may have any name`(name: String) throws {
    let folder = try TemporaryFolder()
    try SmallArchive.write(to: folder("a.szi"), name: name, SmallArchive.pyramid(5, 3, tileSize: 2))
    let archive = try TileArchive(path: folder("a.szi"))
    #expect(Array(archive.name.utf8) == Array(name.utf8))
    #expect(archive.hasEveryTile)
  }

  @Test func `tiles in any byte order are the same`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(40, 30, tileSize: 4)
    try SmallArchive.write(to: folder("a.szi"), pyramid)
    try SmallArchive.write(to: folder("b.szi"), pyramid, order: Array((0..<pyramid.tileCount).reversed()))
    let (a, b) = (try TileArchive(path: folder("a.szi")), try TileArchive(path: folder("b.szi")))
    for index in 0..<pyramid.tileCount { #expect(a.copy(index) == b.copy(index)) }
    #expect(a.generation != b.generation)
  }

  @Test func `equal calls give equal files, and a changed tile gives another generation`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(9, 9, tileSize: 4)
    try SmallArchive.write(to: folder("a.szi"), pyramid)
    try SmallArchive.write(to: folder("b.szi"), pyramid)
    #expect(try bytes(ofFile: folder("a.szi")) == bytes(ofFile: folder("b.szi")))

    let writer = try SZIWriter(destination: folder("c.szi"), name: "small", pyramid: pyramid, format: .jpeg)
    for index in 0..<pyramid.tileCount {
      var tile = SmallArchive.tile(index)
      if index == 5 { tile[0] ^= 1 }
      try tile.withUnsafeBytes { try writer.append(tile: index, $0, crc: checksum($0)) }
    }
    try writer.append("scan-properties.xml", Array(ScanProperties(imageSize: pyramid.imageSize).xml.utf8))
    try writer.append("vendor/note", Array("a note".utf8))
    _ = try writer.finish()
    let generations = try ["a", "b", "c"].map { try TileArchive(path: folder($0 + ".szi")).generation }
    #expect(generations[0] == generations[1])
    #expect(generations[0] != generations[2])
  }

  /// Larger than the writer's buffer, as large, and empty: each goes another way to the file.
  @Test func `tiles of lengths around the buffer size are written`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(5, 1, tileSize: 1)
    let lengths = [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20, 0, 17, 1 << 19, 1 << 19, 5, 6]
    let tiles = (0..<pyramid.tileCount).map { [UInt8](repeating: UInt8($0 + 1), count: lengths[$0]) }
    let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .png)
    for (index, tile) in tiles.enumerated() {
      try tile.withUnsafeBytes { try writer.append(tile: index, $0, crc: checksum($0)) }
    }
    let size = try writer.finish()
    let archive = try TileArchive(path: folder("a.szi"))
    #expect(archive.byteCount == size)
    for (index, tile) in tiles.enumerated() { #expect(archive.copy(index) == tile) }
    try Tool.check(["unzip", "-tqq", folder("a.szi")])
  }

  @Test func `other ZIP readers find no defect and the same bytes`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(40, 30, tileSize: 8)
    try SmallArchive.write(to: folder("a.szi"), name: "日本 é", pyramid)
    try Tool.check(["unzip", "-tqq", folder("a.szi")])
    try Tool.check(
      ["python3", "-", folder("a.szi"), folder("out")],
      input: """
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[1]) as archive:
            assert archive.testzip() is None
            for entry in archive.infolist():
                assert entry.compress_type == 0 and entry.date_time == (1980, 1, 1, 0, 0, 0), entry
                assert entry.external_attr >> 16 == 0o100644, entry
            archive.extractall(sys.argv[2])
        """)
    for index in 0..<pyramid.tileCount {
      let address = pyramid.address(at: index)!
      let file = "out/日本 é/日本 é_files/\(address.level)/\(address.column)_\(address.row).jpg"
      #expect(try bytes(ofFile: folder(file)) == SmallArchive.tile(index))
    }
  }

  @Test func `a writer that is released before its end leaves nothing`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(9, 9, tileSize: 4)
    do {
      let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .jpeg)
      try writer.append("vendor/note", [1, 2, 3])
      #expect(!folder.files().isEmpty)
    }
    #expect(folder.files() == [])
  }
}
