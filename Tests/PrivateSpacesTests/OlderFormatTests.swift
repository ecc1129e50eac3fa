import Foundation
import Testing
import ZigguratCSodium
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// A space as versions before wrote it: an index of one name, archives without padding, the times of change.
@Suite struct OlderFormatTests {
  private let space: SmallSpace
  private let oldFiles: [String]

  init() throws {
    let space = try SmallSpace()
    for id in ["one", "two"] as [ImageID] {
      try space.write(id, version: 1)
      try Self.cut(id, space)
    }
    self.space = space
    oldFiles = [try space.file(of: "one"), try space.file(of: "two")]
    let old = try space.newest
    let text = try JSONEncoder().encode(old.index.entries)
    let index = #"{"entries":\#(String(decoding: text, as: UTF8.self)),"sequence":\#(old.index.sequence)}"#
    for name in [old.name] + old.index.decoys! { unlink(space.folder.path(name)) }
    try space.put(Self.sealed(Array(index.utf8), space.keys), into: space.keys.identity)
  }

  /// Takes the padding out of an archive.
  private static func cut(_ id: ImageID, _ space: SmallSpace) throws {
    let entry = try space.newest.index.entries[id.text]!
    let whole = try space.bytes(entry.file)
    let seal = Seal(keys: space.keys, generation: whole.withUnsafeBytes { Generation($0) })
    let end = whole.count - ArchiveTrailer.sealedCount
    let plain = whole[end...].withUnsafeBytes { seal.open($0, .trailer, 0) }
    var trailer = try #require(plain.flatMap(ArchiveTrailer.init))
    let content = Array(whole[..<(trailer.headOffset + trailer.headCount)])
    trailer.fileCount = content.count + ArchiveTrailer.sealedCount
    var sealed = [UInt8](repeating: 0, count: ArchiveTrailer.sealedCount)
    trailer.bytes.withUnsafeBytes { plain in
      sealed.withUnsafeMutableBytes { seal.close(plain, .trailer, 0, into: $0) }
    }
    try space.put(content + sealed, into: entry.file)
    try space.open().change { index in
      index.entries[id.text]!.bytes = trailer.fileCount
      return []
    }
  }

  private static func sealed(_ text: [UInt8], _ keys: SpaceKeys) -> [UInt8] {
    let plain =
      withUnsafeBytes(of: UInt64(text.count).littleEndian) { Array($0) } + text + Sodium.random(5000)
    let nonce = Sodium.random(24)
    var sealed = [UInt8](repeating: 0, count: plain.count + 16)
    let domain = Array("zigindx1".utf8)
    crypto_aead_xchacha20poly1305_ietf_encrypt(
      &sealed, nil, plain, UInt64(plain.count), domain, UInt64(domain.count), nil, nonce, keys.index)
    return nonce + sealed
  }

  private func time(_ name: String) -> Int {
    var status = stat()
    stat(space.folder.path(name), &status)
    return status.st_mtim.tv_sec
  }

  @Test func `an older format is read and not changed`() throws {
    let names = space.folder.names().sorted()
    #expect(names.count == 5, "an index, two archives, . and ..")
    for id in ["one", "two"] as [ImageID] { #expect(Reading(space, id, version: 1).right == Reading.pieces) }
    try space.open().prepare()
    #expect(space.folder.names().sorted() == names)
    #expect(try space.open().index().decoys == nil)
  }

  @Test func `the next change converts it to the present format`() throws {
    try #require(oldFiles.allSatisfy { time($0) > 1_700_000_000 })
    try space.write("three", version: 1)
    #expect(try space.folder.read(space.keys.identity) == nil)
    #expect(try space.newest.index.decoys?.isEmpty == false)
    #expect(space.folder.names().contains(SpaceFolder.coverName))
    for name in oldFiles { #expect(time(name) < 1_000_000_000) }
    for id in ["one", "three", "two"] as [ImageID] {
      #expect(Reading(space, id, version: 1).right == Reading.pieces)
    }
    // Archives get their padded size when they are rebuilt.
    let old = try space.bytes(oldFiles[0]).count
    try space.write("one", version: 2)
    #expect(try old < SizeClass.least && space.bytes(space.file(of: "one")).count == SizeClass.least)
  }

  /// Killed after the new index is there and before the old one goes.
  @Test func `a conversion that is killed leaves one format or the other`() throws {
    let old = try space.bytes(space.keys.identity)
    try space.write("three", version: 1)
    try space.put(old, into: space.keys.identity)
    #expect(try space.open().ids() == ["one", "three", "two"])
    try space.open().prepare()
    #expect(try space.folder.read(space.keys.identity) == nil)
  }
}
