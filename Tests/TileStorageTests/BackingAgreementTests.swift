import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage

/// Every storage gives what a mapped ZIP gives.
struct BackingAgreementTests {
  /// A storage: the way in which an image is written, and the archive that it becomes.
  struct Storage: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let keep: @Sendable (_ image: Image, _ folder: TemporaryFolder) throws -> TileArchive
  }

  /// An image: every tile except the omitted ones.
  struct Image {
    let pyramid = SmallArchive.pyramid(70, 40, tileSize: 16)
    let leftOut: Set<Int>

    func tile(_ number: Int) -> [UInt8]? { leftOut.contains(number) ? nil : SmallArchive.tile(number) }
  }

  static let storages = [
    Storage(testDescription: "Deep Zoom folder", keep: { try folder($0, $1) }),
    Storage(testDescription: "memory") { image, _ in TileArchive(inMemory: image.pyramid, tile: image.tile) },
    Storage(testDescription: "object store") { image, folder in
      _ = try zip(image, folder)
      let store = PlacidStore(["key": try bytes(ofFile: folder("zip.zip"))])
      return try store.open("key", TileCache(limit: 1 << 20)).archive()
    },
  ]

  @Test("every backing has the tiles of a mapped ZIP, and the same omissions", arguments: storages)
  func tiles(_ storage: Storage) throws {
    let folder = try TemporaryFolder()
    let top = SmallArchive.pyramid(70, 40, tileSize: 16).tileCount
    for leftOut in [[], [0, top - 1, top - 7]] as [Set<Int>] {
      let image = Image(leftOut: leftOut)
      let reference = try Self.zip(image, folder)
      let archive = try storage.keep(image, folder)
      #expect(archive.pyramid == reference.pyramid && archive.format == reference.format)
      #expect(archive.fileExtension == reference.fileExtension)
      #expect(archive.coarsestLevel == reference.coarsestLevel)
      for number in -1...image.pyramid.tileCount {
        #expect(archive.copy(number) == reference.copy(number), "\(number)")
        #expect(
          Self.description(archive.waitForTile(number)) == Self.description(reference.waitForTile(number)),
          "\(number)")
        #expect(archive.versionedTile(number).map { Array($0.bytes) } == archive.copy(number))
        #expect(archive.defect(ofTile: number) { _ in nil } == nil || !image.pyramid.contains(number))
        #expect(archive.version(ofTile: number) == archive.versionedTile(number)?.version, "\(number)")
        #expect(
          (archive.version(ofTile: number) == nil) == (reference.version(ofTile: number) == nil), "\(number)")
      }
      #expect(archive.entry("none") == nil)
    }
  }

  private static func description(_ tile: StoredTile) -> String {
    switch tile {
    case .here(let bytes, _): "\(Array(bytes))"
    case .notFound: "not there"
    case .pending: "not here yet"
    case .unreachable: "unreachable"
    case .unreadable: "unreadable"
    }
  }

  /// By another program, which may leave tiles out.
  private static func zip(_ image: Image, _ folder: TemporaryFolder) throws -> TileArchive {
    try write(image, to: folder("zip/image"))
    let script = """
      import os, sys, zipfile
      with zipfile.ZipFile(sys.argv[1] + ".zip", "w") as archive:
          for place, _, names in os.walk(sys.argv[1]):
              for name in names:
                  path = os.path.join(place, name)
                  archive.write(path, os.path.relpath(path, sys.argv[1]))
      """
    try Tool.check(["python3", "-c", script, folder("zip")])
    return try TileArchive(path: folder("zip.zip"))
  }

  private static func folder(_ image: Image, _ folder: TemporaryFolder) throws -> TileArchive {
    try write(image, to: folder("folder"))
    return try TileArchive(path: folder("folder/image.dzi"))
  }

  /// Writes `image.dzi` and its tiles.
  private static func write(_ image: Image, to folder: String) throws {
    try? FileManager.default.removeItem(atPath: folder)
    for number in 0..<image.pyramid.tileCount {
      let address = image.pyramid.address(at: number)!
      let level = "\(folder)/image_files/\(address.level)"
      try FileManager.default.createDirectory(atPath: level, withIntermediateDirectories: true)
      guard let bytes = image.tile(number) else { continue }
      try Data(bytes).write(to: URL(filePath: "\(level)/\(address.column)_\(address.row).jpg"))
    }
    let descriptor = DeepZoomDescriptor(pyramid: image.pyramid, format: .jpeg)
    try Data(descriptor.xml.utf8).write(to: URL(filePath: "\(folder)/image.dzi"))
  }
}

extension Pyramid {
  fileprivate func contains(_ number: Int) -> Bool { number >= 0 && number < tileCount }
}
