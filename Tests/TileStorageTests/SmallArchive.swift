import Foundation
import TileGeometry
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage

/// Archives whose tiles say which they are.
enum SmallArchive {
  static func pyramid(_ width: Int, _ height: Int, tileSize: Int) -> Pyramid {
    Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize)!
  }

  /// Different for every index, of lengths 1 to 7.
  static func tile(_ index: Int) -> [UInt8] {
    Array("tile \(index * 7919)".utf8.prefix(1 + index % 7)) + withUnsafeBytes(of: index) { [$0[0], $0[1]] }
  }

  /// Writes every tile, in the order given, and two entries that are not tiles.
  @discardableResult
  static func write(
    to path: String, name: String = "small", _ pyramid: Pyramid, format: TileFormat = .jpeg,
    order: [Int]? = nil
  ) throws -> Int {
    let writer = try SZIWriter(destination: path, name: name, pyramid: pyramid, format: format)
    for index in order ?? Array(0..<pyramid.tileCount) {
      let bytes = tile(index)
      try bytes.withUnsafeBytes { try writer.append(tile: index, $0, crc: checksum($0)) }
    }
    try writer.append("scan-properties.xml", Array(ScanProperties(imageSize: pyramid.imageSize).xml.utf8))
    try writer.append("vendor/note", Array("a note".utf8))
    return try writer.finish()
  }

  static func write(_ width: Int, _ height: Int, tileSize: Int, in folder: TemporaryFolder) throws -> String {
    let path = folder("small.szi")
    try write(to: path, pyramid(width, height, tileSize: tileSize))
    return path
  }
}

extension TileArchive {
  /// The tile's bytes, copied.
  func copy(_ index: Int) -> [UInt8]? { tile(index).map { Array($0) } }

  /// Every tile is there and has the checksum that the directory states.
  var hasEveryTile: Bool {
    (0..<pyramid.tileCount).allSatisfy { index in
      guard let bytes = tile(index) else { return false }
      return TileStorage.checksum(bytes) == checksum(ofTile: index)
    }
  }
}
