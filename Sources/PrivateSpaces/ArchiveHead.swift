import TileGeometry
import TileStorage

/// What a sealed archive says of itself; sealed near its end.
struct ArchiveHead: Codable, Hashable, Sendable {
  var id: String
  var width: Int
  var height: Int
  var tileSize: Int
  /// The tiles' ending: `jpg`.
  var format: String
  /// Entries that are not tiles, numbered as they stand.
  var entries: [Entry]

  struct Entry: Codable, Hashable, Sendable {
    var name: String
    /// Of the sealed bytes in the file.
    var offset: Int
    var count: Int
  }

  init(id: String, pyramid: Pyramid, format: TileFormat) {
    self.id = id
    (width, height) = (pyramid.imageSize.width, pyramid.imageSize.height)
    (tileSize, self.format) = (pyramid.tileSize, format.fileExtension)
    entries = []
  }
}

/// The last bytes of a sealed archive: where the head and the table of tiles are, and how long the file is.
struct ArchiveTrailer: Hashable {
  var tableOffset: Int
  var headOffset: Int
  var headCount: Int
  var fileCount: Int

  static let plainCount = 32
  static let sealedCount = plainCount + Seal.overhead

  var bytes: [UInt8] {
    [tableOffset, headOffset, headCount, fileCount].flatMap { number in
      withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
    }
  }

  init(tableOffset: Int, headOffset: Int, headCount: Int, fileCount: Int) {
    (self.tableOffset, self.headOffset) = (tableOffset, headOffset)
    (self.headCount, self.fileCount) = (headCount, fileCount)
  }

  /// Nil where the numbers cannot be.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.plainCount else { return nil }
    let numbers = bytes.withUnsafeBytes { bytes in
      (0..<4).compactMap {
        Int(exactly: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)))
      }
    }
    guard numbers.count == 4 else { return nil }
    self.init(
      tableOffset: numbers[0], headOffset: numbers[1], headCount: numbers[2], fileCount: numbers[3])
  }
}
