import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage

/// Archives that are cut short, damaged, or say what is not so.
@Suite struct DamagedArchiveTests {
  /// A file that is changed in place between readings.
  private final class Patient {
    let path: String
    let whole: [UInt8]
    private let descriptor: Int32

    init(_ whole: [UInt8], in folder: TemporaryFolder) throws {
      self.whole = whole
      path = try folder.write("patient.szi", whole)
      descriptor = open(path, O_RDWR)
    }

    deinit { close(descriptor) }

    func set(_ changes: [Int: UInt8]) {
      for (position, byte) in changes {
        withUnsafeBytes(of: byte) { _ = pwrite(descriptor, $0.baseAddress, 1, position) }
      }
    }

    func heal(_ changes: [Int: UInt8]) { set(changes.reduce(into: [:]) { $0[$1.key] = whole[$1.key] }) }

    func cut(to count: Int) { _ = ftruncate(descriptor, count) }
  }

  /// Reads all there is. A damaged archive may be refused or lack tiles; what it gives as whole must be what
  /// was written.
  private func examine(_ path: String, _ what: @autoclosure () -> String) {
    do {
      let archive = try TileArchive(path: path, within: nil)
      let isSame = archive.pyramid == Self.pyramid && archive.hasEveryTile
      for index in 0..<archive.pyramid.tileCount {
        guard let tile = archive.tile(index) else { continue }
        let start = tile.baseAddress! - archive.file!.bytes.baseAddress!
        #expect(start >= 0 && start + tile.count <= archive.byteCount!, "\(what())")
        // Reads every byte; a checksum that nobody looks at would not.
        let isWhole = TileStorage.checksum(tile) == archive.checksum(ofTile: index)
        if isSame, isWhole { #expect(Array(tile) == SmallArchive.tile(index), "\(what())") }
      }
      for name in archive.entryNames {
        _ = archive.isIntact(name)
        _ = archive.entry(name).map { Array($0) }
      }
      _ = archive.buildRecord
    } catch {
      #expect(!error.reason.isEmpty && !error.description.contains("\n"), "\(what())")
    }
  }

  private static let pyramid = SmallArchive.pyramid(5, 3, tileSize: 2)

  /// The same archive as we write it, and as a writer does that uses ZIP64 everywhere and a comment.
  private enum Writer: CaseIterable { case ours, zip64 }

  private func archive(_ writer: Writer, in folder: TemporaryFolder) throws -> [UInt8] {
    let path = try SmallArchive.write(5, 3, tileSize: 2, in: folder)
    guard writer == .zip64 else { return try bytes(ofFile: path) }
    return try Self.zip64(path)
  }

  @Test(arguments: [false, true])
  func `an archive truncated anywhere is rejected`(isZIP64: Bool) throws {
    let folder = try TemporaryFolder()
    let whole = try archive(isZIP64 ? .zip64 : .ours, in: folder)
    let patient = try Patient(whole, in: folder)
    for count in (0..<whole.count).reversed() {
      patient.cut(to: count)
      let error = storageError { _ = try TileArchive(path: patient.path, within: nil) }
      #expect(error != nil, "the first \(count) of \(whole.count) bytes were accepted")
    }
  }

  @Test func `an archive cut at the front has no tile in a wrong position`() throws {
    let folder = try TemporaryFolder()
    let whole = try archive(.ours, in: folder)
    for count in 1..<whole.count {
      let path = try folder.write("tail.szi", whole.dropFirst(count))
      examine(path, "without the first \(count) bytes")
    }
  }

  @Test(arguments: [false, true])
  func `any flipped bit is rejected, found or harmless`(isZIP64: Bool) throws {
    let folder = try TemporaryFolder()
    let whole = try archive(isZIP64 ? .zip64 : .ours, in: folder)
    let patient = try Patient(whole, in: folder)
    for position in whole.indices {
      for bit in 0..<8 {
        let change = [position: whole[position] ^ UInt8(1 << bit)]
        patient.set(change)
        examine(patient.path, "bit \(bit) of byte \(position)")
        patient.heal(change)
      }
    }
    #expect(try TileArchive(path: patient.path).hasEveryTile)
  }

  /// Several bytes at once, mostly where the numbers are: the directory and its end.
  @Test func `random damage never ends the process`() throws {
    let folder = try TemporaryFolder()
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    for writer in Writer.allCases {
      let whole = try archive(writer, in: folder)
      let patient = try Patient(whole, in: folder)
      for number in 0..<4000 {
        var change: [Int: UInt8] = [:]
        for _ in 0...random.below(6) {
          let position = random.sometimes(4) ? random.below(whole.count) : whole.count - 1 - random.below(900)
          change[position] = random.pick([0, 0xff, 0x7f, 0x80, UInt8(random.below(256))])
        }
        patient.set(change)
        examine(patient.path, "seed \(seed), \(writer), round \(number): \(change)")
        patient.heal(change)
      }
    }
  }

  /// - Parameter field: where in the central entry, APPNOTE 4.3.12.
  @Test(arguments: [
    (field: 20, width: 4), (24, 4), (42, 4), (28, 2), (30, 2), (32, 2), (10, 2), (8, 2),
  ])
  func `a false entry affects no other`(field: Int, width: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try archive(.ours, in: folder)
    let entry = try #require(Self.centralEntry(of: "small/small_files/3/0_0.jpg", in: whole))
    for value in [0, 1, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff] {
      var file = whole
      for byte in 0..<width { file[entry + field + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
      examine(try folder.write("lie.szi", file), "\(value) at \(field)")
    }
  }

  /// - Parameter field: where in the end record, APPNOTE 4.3.16: count, size, offset.
  @Test(arguments: [(field: 10, width: 2), (12, 4), (16, 4)])
  func `a false end record is rejected or harmless`(field: Int, width: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try archive(.ours, in: folder)
    let end = whole.count - ZIPRecord.endSize
    let before = Self.number(whole, at: end + field, width: width)
    for value in [
      0, 1, before - 1, before + 1, 2 * before, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff,
    ] {
      var file = whole
      for byte in 0..<width { file[end + field + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
      examine(try folder.write("lie.szi", file), "\(value) at \(field)")
    }
  }

  /// A few hundred bytes must not make us allocate for 10^12 tiles.
  @Test(arguments: [("Width=\"5\" Height=\"3\"", "Width=\"1000000000\" Height=\"1000000000\"")])
  func `a descriptor with more tiles than the archive has entries is rejected`(old: String, new: String)
    throws
  {
    let folder = try TemporaryFolder()
    let path = try SmallArchive.write(5, 3, tileSize: 2, in: folder)
    try Tool.check(
      ["python3", "-", path, folder("lie.szi"), old, new],
      input: """
        import sys, zipfile
        source = zipfile.ZipFile(sys.argv[1])
        with zipfile.ZipFile(sys.argv[2], "w") as target:
            for entry in source.infolist():
                data = source.read(entry)
                if entry.filename.endswith(".dzi"): data = data.replace(sys.argv[3].encode(), sys.argv[4].encode())
                target.writestr(entry.filename, data)
        """)
    let error = storageError { _ = try TileArchive(path: folder("lie.szi"), within: nil) }
    #expect(error?.reason == "its descriptor names far more tiles than it holds")
  }

  @Test func `other files are rejected in one line`() throws {
    let folder = try TemporaryFolder()
    try folder.write("empty.szi", [])
    try folder.write("text.szi", Array(repeating: UInt8(ascii: "x"), count: 100_000))
    try folder.write("end.szi", [0x50, 0x4b, 5, 6] + [UInt8](repeating: 0, count: 18))
    try folder.write("folder.szi/inside", [1])
    symlink("loop.szi", folder("loop.szi"))
    mkfifo(folder("pipe.szi"), 0o600)
    for (name, reason) in [
      ("empty.szi", "the file is empty"), ("folder.szi", "not a regular file"),
      ("pipe.szi", "not a regular file"),
      ("absent.szi", "No such file or directory"), ("loop.szi", "Too many levels of symbolic links"),
      ("text.szi", "no ZIP directory at its end: not an archive, or cut short"),
      ("end.szi", "it holds no NAME/NAME.dzi"),
    ] {
      let error = storageError { _ = try TileArchive(path: folder(name), within: nil) }
      #expect(error?.description == "cannot open \(folder(name)): \(reason)")
    }
    #expect(
      storageError { _ = try TileArchive(path: "/dev/zero", within: nil) }?.reason == "not a regular file")
  }

  private static func centralEntry(of name: String, in file: [UInt8]) -> Int? {
    let name = Array(name.utf8)
    return (0..<file.count - 46 - name.count).first { at in
      number(file, at: at, width: 4) == ZIPRecord.centralEntry
        && file[at + 46..<at + 46 + name.count].elementsEqual(name)
    }
  }

  private static func number(_ file: [UInt8], at: Int, width: Int) -> Int {
    (0..<width).reduce(0) { $0 | Int(file[at + $1]) << (8 * $1) }
  }

  /// Every entry with a ZIP64 field, and a ZIP64 end that the short one refers to.
  private static func zip64(_ path: String) throws -> [UInt8] {
    let archive = try TileArchive(path: path)
    var (file, directory): ([UInt8], [UInt8]) = ([], [])
    var entries = archive.entryNames.map { ("small/\($0)", Array(archive.entry($0)!)) }
    for index in 0..<archive.pyramid.tileCount {
      let address = archive.pyramid.address(at: index)!
      entries.append(
        ("small/small_files/\(address.level)/\(address.column)_\(address.row).jpg", archive.copy(index)!))
    }
    for (name, data) in entries {
      let crc = data.withUnsafeBytes { checksum($0) }
      let start = directory.count
      let name = Array(name.utf8)
      ZIPRecord.appendCentralEntry(&directory, name: name, size: data.count, crc: crc, offset: 1 << 40)
      // The same field, with the true offset.
      directory.removeLast(8)
      directory.append64(file.count)
      precondition(directory.count - start == 46 + name.count + 12)
      ZIPRecord.appendLocalHeader(&file, name: name, size: data.count, crc: crc)
      file += data
    }
    let offset = file.count
    file += directory
    var end: [UInt8] = []
    ZIPRecord.appendEnd(&end, entries: 0xffff, directorySize: directory.count, directoryOffset: offset)
    // Counts of the ZIP64 end: on this disk and in all.
    for at in [24, 32] {
      for byte in 0..<8 { end[at + byte] = UInt8(truncatingIfNeeded: entries.count >> (8 * byte)) }
    }
    return file + end
  }
}
