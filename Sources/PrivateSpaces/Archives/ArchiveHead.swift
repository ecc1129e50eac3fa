import TileGeometry
import TileStorage

/// The description of an encrypted archive, encrypted near its end.
struct ArchiveHead: Codable, Hashable, Sendable {
  var id: String
  var width: Int
  var height: Int
  var tileSize: Int
  /// The file extension of the tiles, such as `jpg`.
  var format: String
  /// Entries that are not tiles, numbered in the order of the file.
  var entries: [Entry]
  /// The generation of the same archive under the space's former key; nil if the archive was built.
  var source: String?

  struct Entry: Codable, Hashable, Sendable {
    var name: String
    /// The place of the encrypted bytes in the file.
    var offset: Int
    var count: Int
  }

  init(id: String, pyramid: Pyramid, format: TileFormat) {
    self.id = id
    width = pyramid.imageSize.width
    height = pyramid.imageSize.height
    tileSize = pyramid.tileSize
    self.format = format.fileExtension
    entries = []
  }
}

/// The last bytes of an encrypted archive: the places of the head and of the table of tiles, and the length of the
/// file.
struct ArchiveTrailer: Hashable {
  var tableOffset: Int
  var headOffset: Int
  var headCount: Int
  var fileCount: Int

  static let plainCount = 32
  static let sealedCount = plainCount + Seal.overhead

  var bytes: [UInt8] {
    [tableOffset, headOffset, headCount, fileCount].flatMap(\.littleEndianBytes)
  }

  init(tableOffset: Int, headOffset: Int, headCount: Int, fileCount: Int) {
    self.tableOffset = tableOffset
    self.headOffset = headOffset
    self.headCount = headCount
    self.fileCount = fileCount
  }

  /// Parses a trailer; nil if its numbers are invalid.
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

/// Padding up to a size class: zeros between the head and the trailer, encrypted in pieces. Archives of earlier
/// versions have none.
struct ArchivePadding: Hashable {
  /// The size in bytes: 0, or enough for a seal.
  let byteCount: Int

  private static let pieceCount = (64 << 10) + Seal.overhead

  /// - Parameter count: the size of the archive without padding, in bytes.
  init(behind count: Int) { byteCount = SizeClass.size(holding: count + Seal.overhead) - count }

  /// Creates padding of a size; nil if the size is invalid.
  init?(byteCount: Int) {
    guard byteCount == 0 || byteCount >= Seal.overhead else { return nil }
    self.byteCount = byteCount
  }

  /// The sizes of the pieces in bytes, as equal as possible. Each is large enough for its seal.
  var sealedCounts: [Int] {
    let pieces = (byteCount + Self.pieceCount - 1) / Self.pieceCount
    return (0..<pieces).map { byteCount / pieces + ($0 < byteCount % pieces ? 1 : 0) }
  }
}
