import Foundation
import Testing
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Beyond 65,535 entries and beyond 4 GB.
@Suite struct ZIP64Tests {
  @Test func `an archive of more than 65,535 tiles is read by us and by other programs`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(260, 255, tileSize: 1)
    #expect(pyramid.tileCount > 65_536)
    try SmallArchive.write(to: folder("a.szi"), pyramid)
    let archive = try TileArchive(path: folder("a.szi"))
    let wrong = (0..<pyramid.tileCount).filter { archive.copy($0) != SmallArchive.tile($0) }
    #expect(wrong == [])
    try Tool.check(["unzip", "-tqq", folder("a.szi")])
    let count = try Tool.check(
      [
        "python3", "-c", "import sys, zipfile; print(len(zipfile.ZipFile(sys.argv[1]).infolist()))",
        folder("a.szi"),
      ])
    #expect(count == "\(pyramid.tileCount + 3)\n")
  }

  /// Directories of exactly as many entries; the offset stands for what would be before them.
  @Test(arguments: [0, 1, 65_533, 65_534, 65_535, 65_536, 70_000])
  func `the directory's end counts its entries`(count: Int) throws {
    var file: [UInt8] = []
    for number in 0..<count {
      ZIPRecord.appendCentralEntry(&file, name: [0x61], size: number, crc: UInt32(number), offset: number * 3)
    }
    ZIPRecord.appendEnd(&file, entries: count, directorySize: file.count, directoryOffset: 0)
    try file.withUnsafeBytes { bytes in
      let directory = try ZIPDirectory(bytes)
      #expect(directory.count == count)
      var number = 0
      try directory.forEntries { (entry) throws(StorageError) in
        if entry.size != number || entry.crc != UInt32(number) || entry.headerOffset != number * 3 {
          throw StorageError("read the entry", "\(number)")
        }
        number += 1
      }
      #expect(number == count)
      // The ZIP64 end is there exactly where the short one cannot say it.
      #expect((file.count - count * 47 > ZIPRecord.endSize) == (count >= 65_535))
    }
  }

  @Test(arguments: [
    0, 1, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff, 0x1_0000_0000, 1 << 40, Int.max - 1,
  ])
  func `an entry's offset reads back, far ones from the ZIP64 field`(offset: Int) throws {
    var file: [UInt8] = []
    ZIPRecord.appendCentralEntry(&file, name: Array("é".utf8), size: 0xffff_fffe, crc: 7, offset: offset)
    ZIPRecord.appendEnd(&file, entries: 1, directorySize: file.count, directoryOffset: 0)
    try file.withUnsafeBytes { bytes in
      try ZIPDirectory(bytes).forEntries { (entry) throws(StorageError) in
        #expect(entry.headerOffset == offset)
        #expect(entry.size == 0xffff_fffe)
        #expect(entry.crc == 7)
        #expect(entry.isPlain)
        #expect(String(decoding: entry.name, as: UTF8.self) == "é")
      }
    }
  }

  /// APPNOTE 4.5.3: only those numbers are in the field whose short form is all ones, in a fixed order.
  @Test(arguments: [
    (plain: true, stored: true, offset: true), (true, true, false), (true, false, false),
    (false, true, false),
    (false, false, true), (true, false, true), (false, true, true),
  ])
  func `the ZIP64 field has the values that do not fit, in order`(plain: Bool, stored: Bool, offset: Bool)
    throws
  {
    let far = 0x1_2345_6789
    for before in [[], [0x99, 0x99, 3, 0, 1, 2, 3]] as [[UInt8]] {
      var numbers: [UInt8] = []
      if plain { numbers.append64(far) }
      if stored { numbers.append64(plain ? far : 5) }
      if offset { numbers.append64(far + 2) }
      var field: [UInt8] = []
      field.append16(ZIPRecord.zip64Field)
      field.append16(numbers.count)
      let file = Self.directory(
        stored: stored ? 0xffff_ffff : 5, plain: plain ? 0xffff_ffff : 5, offset: offset ? 0xffff_ffff : 9,
        extra: before + field + numbers)
      try file.withUnsafeBytes { bytes in
        try ZIPDirectory(bytes).forEntries { (entry) throws(StorageError) in
          #expect(entry.size == (plain ? far : 5))
          #expect(entry.headerOffset == (offset ? far + 2 : 9))
          #expect(entry.isPlain == ((plain ? far : 5) == (stored ? (plain ? far : 5) : 5)))
        }
      }
    }
  }

  @Test(
    arguments: [
      [], [1, 0], [1, 0, 0, 0], [1, 0, 8, 0, 1, 2, 3], [1, 0, 7, 0, 1, 2, 3, 4, 5, 6, 7],
      [1, 0, 8, 0, 255, 255, 255, 255, 255, 255, 255, 255], [2, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8],
      [2, 0, 255, 255, 1, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0],
    ] as [[UInt8]])
  func `an entry without its ZIP64 values is rejected`(extra: [UInt8]) throws {
    let file = Self.directory(stored: 5, plain: 5, offset: 0xffff_ffff, extra: extra)
    file.withUnsafeBytes { bytes in
      let error = storageError { try ZIPDirectory(bytes).forEntries { _ in } }
      #expect(error?.reason == "entry 0 of its ZIP directory lacks its ZIP64 sizes")
    }
  }

  /// A file with holes: 5 GB long, some kilobytes on disk.
  @Test func `tiles and a directory beyond 4 GB are read`() throws {
    let folder = try TemporaryFolder()
    let pyramid = SmallArchive.pyramid(3, 2, tileSize: 1)
    let start = 5_000_000_000
    let path = try Self.sparse(pyramid, start: start, in: folder)
    let archive = try TileArchive(path: path)
    #expect(archive.byteCount! > start)
    #expect(archive.hasEveryTile)
    for index in 0..<pyramid.tileCount { #expect(archive.copy(index) == SmallArchive.tile(index)) }
    try Tool.check(
      ["python3", "-c", "import sys, zipfile; assert zipfile.ZipFile(sys.argv[1]).testzip() is None", path])
  }

  private static func directory(stored: Int, plain: Int, offset: Int, extra: [UInt8]) -> [UInt8] {
    var file: [UInt8] = []
    file.append32(ZIPRecord.centralEntry)
    for number in [45, 45, 0, 0, 0, 0] { file.append16(number) }
    for number in [7, stored, plain] { file.append32(number) }
    for number in [1, extra.count, 0, 0, 0] { file.append16(number) }
    file.append32(0)
    file.append32(offset)
    file += [0x61] + extra
    ZIPRecord.appendEnd(&file, entries: 1, directorySize: file.count, directoryOffset: 0)
    return file
  }

  private static func sparse(_ pyramid: Pyramid, start: Int, in folder: TemporaryFolder) throws -> String {
    var entries = (0..<pyramid.tileCount).map { index in
      let address = pyramid.address(at: index)!
      return ("far/far_files/\(address.level)/\(address.column)_\(address.row).jpg", SmallArchive.tile(index))
    }
    entries.append(("far/far.dzi", Array(DeepZoomDescriptor(pyramid: pyramid, format: .jpeg).xml.utf8)))
    var (tail, directory): ([UInt8], [UInt8]) = ([], [])
    for (name, data) in entries {
      let crc = data.withUnsafeBytes { checksum($0) }
      let name = Array(name.utf8)
      ZIPRecord.appendCentralEntry(
        &directory, name: name, size: data.count, crc: crc, offset: start + tail.count)
      ZIPRecord.appendLocalHeader(&tail, name: name, size: data.count, crc: crc)
      tail += data
    }
    let directoryOffset = start + tail.count
    tail += directory
    ZIPRecord.appendEnd(
      &tail, entries: entries.count, directorySize: directory.count, directoryOffset: directoryOffset)
    let path = try folder.write("far.szi", [])
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seek(toOffset: UInt64(start))
    try file.write(contentsOf: Data(tail))
    try file.close()
    return path
  }
}
