import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// Every change of a space's files gives a refusal, never other bytes.
@Suite struct SealedArchiveTests {
  private static let count = SmallSpace.pyramid.tileCount

  @Test func `every tile is read as in the plain archive`() throws {
    let space = try SmallSpace()
    let path = space.library("plain.szi")
    let pyramid = Pyramid(imageSize: PixelSize(width: 1234, height: 777)!, tileSize: 32)!
    let plain = try SZIWriter(destination: path, name: "plain", pyramid: pyramid, format: .webp)
    let sealed = try space.open().makeWriter(id: "a/b", pyramid: pyramid, format: .webp)
    var random = SplitMix(3)
    for index in 0..<pyramid.tileCount {
      let bytes = (0..<(1 + random.below(3000))).map { _ in UInt8(random.below(256)) }
      try bytes.withUnsafeBytes {
        try plain.append(tile: index, $0, crc: checksum($0))
        try sealed.append(tile: index, $0, crc: checksum($0))
      }
    }
    try plain.append("scan-properties.xml", Array("<xml/>".utf8))
    try sealed.append("scan-properties.xml", Array("<xml/>".utf8))
    _ = try plain.finish()
    let count = try sealed.finish()

    let archive = try #require(try space.open().archive(ofID: "a/b"))
    let reference = try TileArchive(path: path)
    #expect(archive.pyramid == reference.pyramid)
    #expect(archive.format == .webp)
    #expect(archive.byteCount == count)
    for index in 0..<pyramid.tileCount {
      #expect(archive.copy(index) == reference.tile(index).map { Array($0) })
      let address = pyramid.address(at: index)!
      #expect(
        archive.tileIndex(level: address.level, column: address.column, row: address.row) == index)
    }
    // And as the server has it.
    let served = try #require(try space.open().servedArchive(ofID: "a/b"))
    for index in -1...pyramid.tileCount {
      #expect(served.tile(index).map { Array($0) } == reference.tile(index).map { Array($0) })
      #expect(served.version(ofTile: index) == reference.version(ofTile: index))
      switch (served.waitForTile(index), reference.waitForTile(index)) {
      case (.here, .here), (.notFound, .notFound), (.unreadable, .unreadable): break
      case (let sealed, let plain): Issue.record("tile \(index) is \(sealed), not \(plain)")
      }
    }
    #expect(archive.entryNames == ["scan-properties.xml"])
    #expect(archive.entry("scan-properties.xml") == Array("<xml/>".utf8))
    #expect(archive.entry("none") == nil)
    for outside in [-1, pyramid.tileCount, .max] { #expect(archive.copy(outside) == nil) }
    #expect(try space.open().archive(ofID: "a") == nil)
  }

  /// Thousands of positions: every one of the archive's bytes.
  @Test func `an archive with any byte flipped is rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    try space.write("other", version: 2)
    let file = try space.file(of: "one")
    let whole = try space.bytes(file)
    #expect(whole.count > 2000)
    var random = SplitMix(SplitMix.runSeed)
    // Of the padding not every one.
    for place in whole.indices where place < 5000 || place % 23 == 0 || place > whole.count - 300 {
      var bytes = whole
      bytes[place] ^= UInt8(1 + random.below(255))
      try space.put(bytes, into: file)
      let reading = Reading(space, "one", version: 1)
      #expect(reading.refused > 0 && reading.wrong == 0, "byte \(place): \(reading)")
    }
    #expect(Reading(space, "other", version: 2).right == Reading.pieces)
    try space.put(whole, into: file)
    #expect(Reading(space, "one", version: 1).right == Reading.pieces)
  }

  @Test func `an index with any byte flipped is rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let name = try space.newest.name
    let whole = try space.bytes(name)
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<2000 {
      var bytes = whole
      bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255))
      try space.put(bytes, into: name)
      let said = refusal { _ = try space.open() }
      #expect(said?.hasSuffix("it is damaged; put a copy of the file back in its place") == true)
    }
  }

  @Test func `a shortened or lengthened file is rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let file = try space.file(of: "one")
    let whole = try space.bytes(file)
    for count in 0..<whole.count where count < 4000 || count % 29 == 0 || count > whole.count - 200 {
      try space.put(Array(whole[..<count]), into: file)
      #expect(Reading(space, "one", version: 1).refused == Reading.pieces, "\(count) bytes")
    }
    for tail in [[0], Array(whole.suffix(48)), whole] as [[UInt8]] {
      try space.put(whole + tail, into: file)
      #expect(Reading(space, "one", version: 1).refused == Reading.pieces)
    }
  }

  /// Changes of files without the password, and the errors that they cause.
  @Test func `tiles swapped within an archive are rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let file = try space.file(of: "one")
    let whole = try space.bytes(file)
    // Tiles lie in the order of writing, backwards, behind the generation; find pairs of one length.
    var starts: [Int: Int] = [:]
    var at = Generation.byteCount
    for index in (0..<Self.count).reversed() {
      starts[index] = at
      at += SmallSpace.tile(index, version: 1).count + Seal.overhead
    }
    var swaps = 0
    for a in 0..<Self.count {
      for b in (a + 1)..<Self.count {
        let count = SmallSpace.tile(a, version: 1).count + Seal.overhead
        guard SmallSpace.tile(b, version: 1).count + Seal.overhead == count else { continue }
        var bytes = whole
        let (left, right) = (starts[a]!, starts[b]!)
        bytes.replaceSubrange(left..<left + count, with: whole[right..<right + count])
        bytes.replaceSubrange(right..<right + count, with: whole[left..<left + count])
        try space.put(bytes, into: file)
        let reading = Reading(space, "one", version: 1)
        #expect((reading.refused, reading.wrong) == (2, 0), "tiles \(a) and \(b)")
        // One of them copied over the other.
        bytes.replaceSubrange(right..<right + count, with: whole[right..<right + count])
        try space.put(bytes, into: file)
        let copied = Reading(space, "one", version: 1)
        #expect((copied.refused, copied.wrong) == (1, 0), "tile \(b) over \(a)")
        swaps += 1
      }
    }
    #expect(swaps > 20)
  }

  @Test func `swapped files are rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    try space.write("two", version: 1)
    let (one, two) = (try space.file(of: "one"), try space.file(of: "two"))
    let (bytesOfOne, bytesOfTwo) = (try space.bytes(one), try space.bytes(two))
    try space.put(bytesOfTwo, into: one)
    #expect(Reading(space, "one", version: 1).refused == Reading.pieces)
    #expect(Reading(space, "two", version: 1).right == Reading.pieces)
    try space.put(bytesOfOne, into: two)
    #expect(Reading(space, "two", version: 1).refused == Reading.pieces)
  }

  @Test func `an older version in place of the current one is rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let (oldFile, oldName) = (try space.file(of: "one"), try space.newest.name)
    let oldIndex = try space.bytes(oldName)
    let old = try space.bytes(oldFile)
    try space.write("one", version: 2)
    let newFile = try space.file(of: "one")
    #expect(Reading(space, "one", version: 2).right == Reading.pieces)
    #expect(try space.folder.read(oldFile) == nil, "what was replaced is gone")
    // The old archive under its old name, then under the new one's.
    try space.put(old, into: oldFile)
    #expect(Reading(space, "one", version: 2).right == Reading.pieces)
    try space.put(old, into: newFile)
    #expect(Reading(space, "one", version: 2).refused == Reading.pieces)
    // The index beside the newer one changes nothing; in its place it is noticed by who has read the newer one.
    let open = try space.open()
    try space.put(oldIndex, into: oldName)
    #expect(try open.index() == space.open().index())
    unlink(space.folder.path(try space.newest.name))
    #expect(
      refusal { _ = try open.ids() }?.hasSuffix("it is older than the one that was read before") == true)
  }

  @Test func `tiles of an older version in the new file are rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let old = try space.bytes(space.file(of: "one"))
    try space.write("one", version: 2)
    let file = try space.file(of: "one")
    let new = try space.bytes(file)
    #expect(old.count == new.count)
    // Versions are as long, so every piece stands where its successor does.
    try space.put(Array(new.prefix(16)) + Array(old.dropFirst(16)), into: file)
    #expect(Reading(space, "one", version: 2).refused == Reading.pieces)
    let tiles = 16..<600
    var bytes = new
    bytes.replaceSubrange(tiles, with: old[tiles])
    try space.put(bytes, into: file)
    let reading = Reading(space, "one", version: 2)
    #expect(reading.refused > 5 && reading.right > 5 && reading.wrong == 0)
  }

  @Test func `files of another space are rejected`() throws {
    let (space, other) = (try SmallSpace(), try SmallSpace())
    try space.write("one", version: 1)
    try other.write("one", version: 1)
    let file = try space.file(of: "one")
    try space.put(try other.bytes(other.file(of: "one")), into: file)
    #expect(Reading(space, "one", version: 1).refused == Reading.pieces)
    try space.put(try other.bytes(other.newest.name), into: space.newest.name)
    #expect(refusal { _ = try space.open() } != nil)
  }

  @Test func `a missing index is an error, not an empty space`() throws {
    let space = try SmallSpace()
    unlink(space.folder.path(try space.newest.name))
    #expect(
      refusal { _ = try space.open() }?.hasSuffix("it is not there; was the space's key changed?") == true)
  }

  @Test func `random bytes are rejected`() throws {
    let space = try SmallSpace()
    try space.write("one", version: 1)
    let file = try space.file(of: "one")
    let whole = try space.bytes(file)
    var random = SplitMix(SplitMix.runSeed)
    for _ in 0..<1000 {
      var bytes = whole
      for _ in 0...random.below(4) {
        let (start, count) = (random.below(bytes.count), 1 + random.below(200))
        switch random.below(4) {
        case 0:
          for place in start..<min(start + count, bytes.count) { bytes[place] = UInt8(random.below(256)) }
        case 1: bytes.removeSubrange(start..<min(start + count, bytes.count - 1))
        case 2: bytes.insert(contentsOf: Sodium.random(count), at: start)
        default: bytes.append(contentsOf: bytes[start..<min(start + count, bytes.count)])
        }
        if bytes.isEmpty { bytes = [0] }
      }
      try space.put(bytes, into: file)
      #expect(Reading(space, "one", version: 1).wrong == 0)
    }
  }
}
