import TileGeometry
import TileStorage
import ZigguratFiles

/// Images of tests, whose tiles name the image and its version.
enum VersionedImage {
  static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!

  static func tile(_ id: ImageID, _ version: Int, _ number: Int) -> [UInt8] {
    Array("\(id) \(version) \(number)".utf8)
  }

  /// Each version is built from another source.
  private static func record(_ version: Int) -> BuildRecord {
    let digits = String(version)
    return BuildRecord(
      sourceName: "\(version).tif", page: nil, sourceBytes: 1,
      sourceDigest: String(repeating: "0", count: 64 - digits.count) + digits, options: "", route: "test",
      steps: [])
  }

  /// Writes an archive, as a build does.
  static func write(_ id: ImageID, _ version: Int, into store: any ArchiveStore) throws(StorageError) {
    let writer = try store.makeWriter(id: id, pyramid: pyramid, format: .png)
    for number in 0..<pyramid.tileCount {
      let tile = tile(id, version, number)
      let result: Result<Void, StorageError> = tile.withUnsafeBytes { bytes in
        do throws(StorageError) {
          return .success(try writer.append(tile: number, bytes, crc: checksum(bytes)))
        } catch { return .failure(error) }
      }
      try result.get()
    }
    try writer.append(BuildRecord.entryName, record(version).json)
    _ = try writer.finish()
    try store.announce()
  }

  /// The result of reading an image.
  enum Content: Equatable {
    case missing
    case version(Int)
    case damaged
    case unreachable
    case failed(String)

    init(_ error: StorageError) {
      switch error.kind {
      case .notFound: self = .failed("\(error)")
      case .unreachable: self = .unreachable
      case .unreadable: self = .damaged
      }
    }
  }

  /// Reads all tiles of an archive.
  static func content(_ id: ImageID, of archive: TileArchive) -> Content {
    var tiles: [[UInt8]] = []
    do throws(ArchiveError) {
      for number in 0..<pyramid.tileCount {
        guard let tile = try archive.tile(at: pyramid.address(at: number)!) else {
          return .failed("there is no tile \(number)")
        }
        tiles.append(tile)
      }
    } catch {
      return switch error.kind {
      case .unavailable: .unreachable
      case .damaged: .damaged
      default: .failed("\(error)")
      }
    }
    let parts = String(decoding: tiles[0], as: UTF8.self).split(separator: " ")
    guard parts.count > 1, let version = Int(parts[parts.count - 2]),
      tiles.enumerated().allSatisfy({ $1 == tile(id, version, $0) })
    else { return .failed("the tiles are not those of one version") }
    return .version(version)
  }
}
