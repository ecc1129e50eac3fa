import Glibc
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

@Suite struct SealedSpoolTests {
  private let folder = try! TemporaryFolder()

  private func write(_ text: String, at position: Int, to spool: SealedSpool) throws {
    try Array(text.utf8).withUnsafeBytes { try spool.write($0, at: position) }
  }

  private func text(_ spool: SealedSpool) throws -> String {
    let file = try spool.unsealed()
    return try withExtendedLifetime(file) { String(decoding: try bytes(file.path), as: UTF8.self) }
  }

  @Test func `written bytes are read back`() throws {
    let spool = try SealedSpool(folder: folder.path)
    try write("grand", at: 0, to: spool)
    try write("mother", at: 5, to: spool)
    #expect(try text(spool) == "grandmother")
    #expect(try spool.start(7) == Array("grandmo".utf8))
    #expect(try spool.start(100).count == 11)
  }

  @Test func `a write at an earlier position discards the bytes after it`() throws {
    let spool = try SealedSpool(folder: folder.path)
    for (part, position) in [
      ("grand", 0), ("mother", 5), ("father, much longer", 5), ("pa", 5), ("!", 7),
    ] {
      try write(part, at: position, to: spool)
    }
    #expect(try text(spool) == "grandpa!")
    for position in [6, 9, 100] {
      let fresh = try SealedSpool(folder: folder.path)
      try write("grand", at: 0, to: fresh)
      #expect(throws: StorageError.self) { try write("x", at: position, to: fresh) }
    }
  }

  @Test func `the file has no name and contains no plain text`() throws {
    let spool = try SealedSpool(folder: folder.path)
    for number in 0..<50 { try write("grandmother", at: 11 * number, to: spool) }
    #expect(SpaceFolder(library: folder.path + "/x").names().isEmpty)
    let sealed = try spool.sealedBytes()
    #expect(sealed.count == 50 * (11 + 40))
    #expect(!String(decoding: sealed, as: UTF8.self).contains("grand"))
    // The same text is never sealed to the same bytes.
    let pieces = (0..<50).map { Array(sealed[($0 * 51)..<($0 * 51 + 51)]) }
    #expect(Set(pieces).count == 50)
  }

  @Test func `a changed byte is rejected`() throws {
    for place in 0..<102 {
      let spool = try SealedSpool(folder: folder.path)
      try write("grandmother", at: 0, to: spool)
      try write("grandfather", at: 11, to: spool)
      try spool.flip(place)
      #expect(throws: StorageError.self) { try text(spool) }
    }
  }

  @Test func `a discarded spool is empty and accepts nothing`() throws {
    let spool = try SealedSpool(folder: folder.path)
    try write("grandmother", at: 0, to: spool)
    spool.discard()
    #expect(try spool.sealedBytes().isEmpty)
    #expect(throws: StorageError.self) { try spool.unsealed() }
    #expect(throws: StorageError.self) { try write("more", at: 11, to: spool) }
  }
}

private func bytes(_ path: String) throws -> [UInt8] {
  var status = stat()
  guard stat(path, &status) == 0, status.st_size > 0 else { return [] }
  let file = try MappedFile(path: path)
  return withExtendedLifetime(file) { Array(file.bytes) }
}

extension SealedSpool {
  fileprivate func sealedBytes() throws -> [UInt8] {
    try bytes("/proc/self/fd/\(descriptor)")
  }

  fileprivate func flip(_ place: Int) throws {
    var byte: UInt8 = 0
    #expect(pread(descriptor, &byte, 1, off_t(place)) == 1)
    byte ^= 1
    #expect(pwrite(descriptor, &byte, 1, off_t(place)) == 1)
  }
}
