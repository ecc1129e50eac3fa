import Dispatch
import TileGeometry
import TileStorage
import ZigguratFiles

extension TileArchive {
  /// The maximum number of tile files that are checked for one version. An event loop does it.
  private static let versionLimit = 512

  /// Returns a version that distinguishes the pixels of a rectangle from earlier ones under the same generation.
  /// Returns 0 if tiles do not change.
  ///
  /// - Parameter rectangle: level space, inside the level.
  func version(of rectangle: PixelRect, level: Int) -> UInt64 {
    guard hasTileVersions else { return 0 }
    let stored = storedRectangle(rectangle, level: level)
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    let side = pyramid.tileSize
    let (columns, rows) = (stored.width / side + 1, stored.height / side + 1)
    // Checking more files would delay other requests, so each such picture gets a new version.
    guard rows <= Self.versionLimit / columns else { return DispatchTime.now().uptimeNanoseconds }
    for row in stored.y / side...(stored.y + stored.height - 1) / side {
      for column in stored.x / side...(stored.x + stored.width - 1) / side {
        var address = TileAddress(level: max(level, coarsestLevel), column: column, row: row)
        // Omitted tiles are made from coarser ones.
        while address.level >= coarsestLevel {
          let number = tileIndex(level: address.level, column: address.column, row: address.row)
          let version: UInt64? = number.flatMap { self.version(ofTile: $0) }
          hash = Digest.step(hash, version ?? 1)
          if version != nil { break }
          address = TileAddress(level: address.level - 1, column: address.column / 2, row: address.row / 2)
        }
      }
    }
    return hash
  }
}
