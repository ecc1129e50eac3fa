import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Limits of what others wrote.
@Suite struct InputLimitTests {
  /// An archive of one tile with these entries besides.
  private func archive(_ folder: TemporaryFolder, _ entries: [(String, [UInt8])]) throws -> String {
    let pyramid = SmallArchive.pyramid(1, 1, tileSize: 1)
    let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .jpeg)
    let tile = SmallArchive.tile(0)
    try tile.withUnsafeBytes { try writer.append(tile: 0, $0, crc: checksum($0)) }
    for (name, bytes) in entries { try writer.append(name, bytes) }
    _ = try writer.finish()
    return folder("a.szi")
  }

  private static let record = BuildRecord(
    sourceName: "a.jpg", page: nil, sourceBytes: 1, sourceDigest: "00", options: "", route: "", steps: [])

  private func padded(_ json: [UInt8], to count: Int) -> [UInt8] {
    json + [UInt8](repeating: UInt8(ascii: " "), count: count - json.count)
  }

  @Test func `SECURITY.md has the same table`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent(".github/SECURITY.md"), encoding: .utf8)
    let lines = text.split(separator: "\n").map(String.init)
    let head = try #require(lines.firstIndex(of: "| input from outside | most |"))
    let rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }
    #expect(Array(rows) == InputLimit.allCases.map(\.row))
  }

  @Test(arguments: [BuildRecord.entryName, ImageMetadata.entryName])
  func `a record up to its limit is read and a larger one is not`(name: String) throws {
    let limit = InputLimit.entry(name).bytes
    let json = name == BuildRecord.entryName ? Self.record.json : ImageMetadata(title: "A").json
    for count in [limit, limit + 1] {
      let folder = try TemporaryFolder()
      let archive = try TileArchive(path: archive(folder, [(name, padded(json, to: count))]))
      let isRead = archive.buildRecord != nil || archive.metadata.title == "A"
      #expect(isRead == (count == limit))
      #expect(archive.recordDefects.count == (count == limit ? 0 : 1), "\(archive.recordDefects)")
      #expect(archive.tile(0) != nil)
    }
  }

  @Test func `deep and wide JSON is refused, and so is JSON that is not UTF-8`() throws {
    let limits = JSONLimits(bytes: 1000, depth: 3, values: 10)
    func refusal(_ text: String, _ encoding: String.Encoding = .utf8) -> String? {
      text.data(using: encoding)!.withUnsafeBytes { limits.refusal(of: $0) }?.description
    }
    #expect(refusal("[[[1]]]") == nil)
    #expect(refusal("[[[[1]]]]") == "has more than 3 levels")
    #expect(refusal("[1,2,3,4,5,6,7,8,9]") == nil)
    #expect(refusal("[1,2,3,4,5,6,7,8,9,10]") == "has more than 10 values")
    // Brackets and commas in strings are text.
    #expect(refusal(#"["[[[[[[[[,,,,,,,,,,,,,", "\"[[[[\\"]"#) == nil)
    #expect(refusal("[\(String(repeating: " ", count: 1000))]") == "has more than 1000 bytes")
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
      #expect(refusal("[1]", encoding) == "is not UTF-8")
    }
    #expect(throws: JSONLimits.ValidationError.self) {
      try limits.decode([[[[Int]]]].self, from: "[[[[1]]]]".utf8)
    }
    #expect(try limits.decode([[[Int]]].self, from: "[[[1]]]".utf8) == [[[1]]])
  }

  @Test func `a record is decoded once for an open archive`() throws {
    let folder = try TemporaryFolder()
    let path = try archive(
      folder, [(BuildRecord.entryName, Self.record.json), (ImageMetadata.entryName, [0x21])])
    let archive = try TileArchive(path: path)
    #expect(archive.buildRecord == Self.record)
    #expect(
      archive.metadata.isEmpty
        && archive.recordDefects == [ImageMetadata.entryName + " is not a valid record"]
    )
    // The mapping shows what is written over the entries now.
    for name in [BuildRecord.entryName, ImageMetadata.entryName] {
      let entry = try #require(archive.entry(name))
      let offset = entry.baseAddress! - archive.file!.bytes.baseAddress!
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seek(toOffset: UInt64(offset))
      file.write(Data(repeating: UInt8(ascii: "?"), count: entry.count))
    }
    #expect(archive.entry(BuildRecord.entryName)?.first == UInt8(ascii: "?"))
    #expect(archive.buildRecord == Self.record)
  }

  /// A build must not write what it cannot read back.
  @Test func `metadata beyond the limit is cut when it is written`() throws {
    var metadata = ImageMetadata(title: "A", caption: String(repeating: "\u{1}ä", count: 2 << 20))
    metadata.keywords = (0..<30_000).map { "keyword \($0)" }
    metadata.titles = ["de": String(repeating: "x", count: 1 << 20)]
    let read = try #require(ImageMetadata(json: Data(metadata.boundedJSON)))
    #expect(read.title == "A" && read.keywords.first == "keyword 0")
    #expect(read.caption.map { metadata.caption!.hasPrefix($0) && !$0.isEmpty } == true)
    let small = ImageMetadata(title: "B", keywords: ["one", "two"])
    #expect(small.boundedJSON == small.json)
  }

  @Test func `an archive with a tile larger than its pixels can be is rejected`() throws {
    let folder = try TemporaryFolder()
    for excess in [0, 1] {
      let pyramid = SmallArchive.pyramid(1, 1, tileSize: 1)
      let writer = try SZIWriter(destination: folder("a.szi"), name: "a", pyramid: pyramid, format: .png)
      let tile = [UInt8](repeating: 0, count: (4 << 20) + 8 + excess)
      try tile.withUnsafeBytes { try writer.append(tile: 0, $0, crc: checksum($0)) }
      _ = try writer.finish()
      let error = storageError { _ = try TileArchive(path: folder("a.szi"), within: nil) }
      #expect(
        error?.reason == (excess == 0 ? nil : "a tile of 4194313 bytes is larger than its pixels can be"))
    }
  }

  @Test func `an index takes at most four bytes for each byte of the directory`() throws {
    // 16 bytes a tile; this descriptor names as many tiles as 64 KB hold, or one row more.
    for (side, isOpened) in [(54, true), (60, false)] {
      let folder = try TemporaryFolder()
      let count = Pyramid(imageSize: PixelSize(width: side, height: side)!, tileSize: 1)!.tileCount
      #expect((count * 16 <= 64 << 10) == isOpened)
      let script = """
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[1], "w") as archive:
            archive.writestr("a/a.dzi", '<Image TileSize="1" Overlap="0" Format="png"><Size Width="\(side)" Height="\(side)"/></Image>')
            archive.writestr("a/a_files/0/0_0.png", b"x")
        """
      try Tool.check(["python3", "-", folder("a.szi")], input: script)
      let error = storageError { _ = try TileArchive(path: folder("a.szi"), within: nil) }
      #expect(error?.reason == (isOpened ? nil : "its descriptor names far more tiles than it holds"))
    }
  }
}
