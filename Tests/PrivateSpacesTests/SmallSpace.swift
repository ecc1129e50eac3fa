import Foundation
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// A space of its own in a temporary folder, without a password: only the tests of passwords pay for one.
struct SmallSpace {
  let library = try! TemporaryFolder()
  let folder: SpaceFolder
  let spaceKey = LockedBytes.random(KeyDerivation.keyCount)
  let keys: SpaceKeys
  /// As if Argon2id had made it of a password.
  let passwordKey = LockedBytes.random(KeyDerivation.keyCount)

  init() throws {
    folder = SpaceFolder(library: library.path)
    keys = SpaceKeys(spaceKey: spaceKey)
    try folder.make()
    _ = try IndexFiles(folder: folder, keys: keys).write(SpaceIndex())
  }

  /// The newest index, and its file.
  var newest: IndexFiles.Found { get throws { try IndexFiles(folder: folder, keys: keys).newest()! } }

  /// All but the index's file and its decoys, which come and go with every writing; sorted.
  func names() throws -> [String] {
    let newest = try newest
    let passing = [".", "..", newest.name] + (newest.index.decoys ?? [])
    return folder.names().filter { !passing.contains($0) }.sorted()
  }

  /// As a process that starts now opens it.
  func open() throws -> PrivateSpace { try PrivateSpace(folder: folder, keys: keys) }

  static let pyramid = Pyramid(imageSize: PixelSize(width: 300, height: 200)!, tileSize: 64)!

  /// Different for every index and version, with gaps in the lengths.
  static func tile(_ index: Int, version: Int) -> [UInt8] {
    Array("JFIF tile \(index) of version \(version) ".utf8) + Array(repeating: UInt8(index), count: index % 5)
  }

  static let entryName = "vendor/note"
  static func note(version: Int) -> [UInt8] { Array("Exif note of version \(version)".utf8) }

  @discardableResult
  func write(_ id: ImageID, version: Int, in space: PrivateSpace? = nil) throws -> Int {
    let pyramid = Self.pyramid
    let writer = try (space ?? open()).makeWriter(id: id, pyramid: pyramid, format: .jpeg)
    for index in (0..<pyramid.tileCount).reversed() {
      try Self.tile(index, version: version).withUnsafeBytes { try writer.append(tile: index, $0, crc: 0) }
    }
    try writer.append(Self.entryName, Self.note(version: version))
    return try writer.finish()
  }

  /// The file of an image.
  func file(of id: ImageID) throws -> String {
    try newest.index.entries[id.text]!.file
  }

  func bytes(_ file: String) throws -> [UInt8] { try folder.read(file)! }

  func put(_ bytes: [UInt8], into file: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path(file)))
  }
}

/// The result of reading all pieces of an image.
struct Reading {
  /// Pieces that are as they were written in that version.
  var right = 0
  /// Refused.
  var refused = 0
  /// Neither: what must never be.
  var wrong = 0

  /// Tiles, an entry, and what lies behind them.
  static let pieces = SmallSpace.pyramid.tileCount + 2

  init(_ space: SmallSpace, _ id: ImageID, version: Int) {
    guard let archive = try? space.open().archive(ofID: id), archive.pyramid == SmallSpace.pyramid else {
      refused = Self.pieces
      return
    }
    for index in 0..<SmallSpace.pyramid.tileCount {
      count(archive.copy(index), SmallSpace.tile(index, version: version))
    }
    count(archive.entry(SmallSpace.entryName), SmallSpace.note(version: version))
    if archive.otherDefects.isEmpty { right += 1 } else { refused += 1 }
  }

  private mutating func count(_ found: [UInt8]?, _ expected: [UInt8]) {
    if found == nil { refused += 1 } else if found == expected { right += 1 } else { wrong += 1 }
  }
}

/// Returns the error of `body`; nil if it throws none.
func refusal(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch { return "\(error)" }
}
