import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage

/// Archives that other programs wrote.
@Suite struct ForeignArchiveTests {
  @Test(arguments: [(1, 1, 256), (257, 300, 128), (1000, 1, 64), (511, 513, 256)])
  func `an SZI by vips dzsave is read with its tiles`(width: Int, height: Int, tileSize: Int) throws {
    let folder = try TemporaryFolder()
    try Tool.check(["vips", "gaussnoise", folder("noise.png"), "\(width)", "\(height)", "--mean", "128"])
    let layout = ["--overlap", "0", "--tile-size", "\(tileSize)", "--suffix", ".png"]
    try Tool.check(
      ["vips", "dzsave", folder("noise.png"), folder("noise.szi"), "--container", "szi"] + layout)
    try Tool.check(["unzip", "-qq", folder("noise.szi"), "-d", folder("out")])
    let archive = try TileArchive(path: folder("noise.szi"))
    #expect(archive.name == "noise")
    #expect(archive.format == .png)
    #expect(archive.pyramid == SmallArchive.pyramid(width, height, tileSize: tileSize))
    #expect(archive.hasEveryTile)
    for index in 0..<archive.pyramid.tileCount {
      let address = archive.pyramid.address(at: index)!
      let file = "out/noise/noise_files/\(address.level)/\(address.column)_\(address.row).png"
      #expect(try archive.copy(index) == bytes(ofFile: folder(file)))
    }
    let properties = try #require(archive.entry("scan-properties.xml"))
    #expect(Array(properties) == (try bytes(ofFile: folder("out/noise/scan-properties.xml"))))
    #expect(archive.buildRecord == nil)
  }

  /// Repacks one of our archives by Python's `zipfile`; `body` sees `source`, `target` and `entries`.
  private func repacked(_ folder: TemporaryFolder, _ body: String) throws -> TileArchive {
    let source = try SmallArchive.write(5, 3, tileSize: 2, in: folder)
    let script = """
      import sys, zipfile
      source = zipfile.ZipFile(sys.argv[1])
      target = sys.argv[2]
      entries = [(entry.filename, source.read(entry)) for entry in source.infolist()]

      """
    try Tool.check(["python3", "-", source, folder("foreign.szi")], input: script + body)
    return try TileArchive(path: folder("foreign.szi"), within: nil)
  }

  @Test(arguments: [
    // Last entry first, with folders as entries of their own.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in reversed(entries): archive.writestr(name, data)
        for name in "small/", "small/small_files/", "small/small_files/3/": archive.writestr(name, b"")
    """,
    // Extra fields, longer in the local header than in the directory, and comments.
    """
    with zipfile.ZipFile(target, "w") as archive:
        archive.comment = b"a comment that looks like an end: PK\\x05\\x06" + bytes(40)
        for number, (name, data) in enumerate(entries):
            entry = zipfile.ZipInfo(name)
            entry.extra = b"\\x99\\x99" + (number * 3).to_bytes(2, "little") + bytes(number * 3)
            entry.comment = b"of an entry"
            archive.writestr(entry, data)
            entry.extra = b""
    """,
    // Streamed: sizes follow the data, the local header has none.
    """
    class Pipe:
        def __init__(self, file): self.file = file
        def write(self, data): return self.file.write(data)
        def flush(self): self.file.flush()
    with open(target, "wb") as file, zipfile.ZipFile(Pipe(file), "w") as archive:
        for name, data in entries: archive.writestr(name, data)
    """,
    // ZIP64 fields where they are not needed.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries:
            with archive.open(name, "w", force_zip64=True) as entry: entry.write(data)
    """,
    // Written twice, as an appended-to archive has it: the later entry counts.
    """
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in entries: archive.writestr(name, b"old" if "_files" in name else data)
        for name, data in entries: archive.writestr(name, data)
    """,
    // Associated images and a foreign folder, which also has a descriptor and a tile.
    """
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("small/other/other.dzi", "<Image/>")
        archive.writestr("other/other_files/3/0_0.jpg", "not ours")
        archive.writestr("small/small_files/3/0_0.jpg.bak", "not ours")
        archive.writestr("small/small_files/3/00_0.jpg", "not ours")
        archive.writestr("small/small_files/3/0_0.png", "not ours")
        archive.writestr("small/small_files/99/0_0.jpg", "not ours")
        archive.writestr("small/small_files/3/999999999999999999999_0.jpg", "not ours")
        for name, data in entries: archive.writestr(name, data)
    """,
  ])
  func `the tiles are the same for every way to write the ZIP`(script: String) throws {
    let folder = try TemporaryFolder()
    let archive = try repacked(folder, script)
    #expect(archive.name == "small")
    #expect(archive.hasEveryTile)
    for index in 0..<archive.pyramid.tileCount { #expect(archive.copy(index) == SmallArchive.tile(index)) }
    #expect(archive.entry("vendor/note").map { Array($0) } == Array("a note".utf8))
  }

  /// SZI forbids compression; such an entry could not be answered as it is.
  @Test func `a deflated tile is ignored, and a deflated descriptor is rejected`() throws {
    let folder = try TemporaryFolder()
    func script(_ deflated: String) -> String {
      """
      with zipfile.ZipFile(target, "w") as archive:
          for name, data in entries:
              archive.writestr(name, data, zipfile.ZIP_DEFLATED if name.endswith("\(deflated)") else 0)
      """
    }
    let archive = try repacked(folder, script("/0_0.jpg"))
    let top = archive.pyramid.topLevel
    #expect(archive.tile(archive.tileIndex(level: top, column: 0, row: 0)!) == nil)
    #expect(archive.tile(archive.tileIndex(level: top, column: 1, row: 0)!) != nil)
    let error = storageError { _ = try repacked(folder, script(".dzi")) }
    #expect(error?.reason == "its descriptor cannot be read")
  }

  /// A few blank tiles may be left out by other writers.
  @Test func `a tile that is not in the archive is nil`() throws {
    let folder = try TemporaryFolder()
    let archive = try repacked(
      folder,
      """
      with zipfile.ZipFile(target, "w") as archive:
          for name, data in entries:
              if not name.endswith("/1_0.jpg"): archive.writestr(name, data)
      """)
    let missing = try #require(archive.tileIndex(level: archive.pyramid.topLevel, column: 1, row: 0))
    #expect(archive.tile(missing) == nil)
    #expect(archive.checksum(ofTile: missing) == nil)
    #expect(!archive.hasEveryTile)
  }

  /// Old ZIP programs write names as the system had them, without saying in which encoding.
  @Test(arguments: [[0xe9], [0x82, 0x20, 0xff], [0xc3, 0x28], [0x80]] as [[UInt8]])
  func `a root folder with a name that is not UTF-8 is read`(name: [UInt8]) throws {
    let folder = try TemporaryFolder()
    let placeholder = String(repeating: "~", count: name.count)
    let pyramid = SmallArchive.pyramid(5, 3, tileSize: 2)
    try SmallArchive.write(to: folder("a.szi"), name: placeholder, pyramid)
    var file = try bytes(ofFile: folder("a.szi"))
    for start in 0...(file.count - name.count)
    where file[start..<start + name.count].allSatisfy({ $0 == 0x7e }) {
      file.replaceSubrange(start..<start + name.count, with: name)
    }
    try folder.write("b.szi", file)
    let archive = try TileArchive(path: folder("b.szi"))
    #expect(archive.name == String(decoding: name, as: UTF8.self))
    for index in 0..<pyramid.tileCount { #expect(archive.copy(index) == SmallArchive.tile(index)) }
  }

  @Test func `a ZIP without a Deep Zoom image is rejected with the missing part`() throws {
    let folder = try TemporaryFolder()
    for name in ["a.txt", "a.dzi", "a/b.dzi", "a/b/b.dzi", ".dzi", "/.dzi"] {
      try Tool.check(
        [
          "python3", "-c",
          "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr(sys.argv[2], b'x')",
          folder("a.szi"), name,
        ])
      let error = storageError { _ = try TileArchive(path: folder("a.szi"), within: nil) }
      #expect(error?.description == "cannot open \(folder("a.szi")): it holds no NAME/NAME.dzi")
    }
  }
}
