package import TileGeometry

/// An archive whose parts can all be verified.
package protocol CheckableArchive {
  var pyramid: Pyramid { get }
  var format: TileFormat { get }
  var fileExtension: String { get }
  /// The names of the entries that are not tiles, sorted.
  var entryNames: [String] { get }

  /// Calls `body` with the number of each tile that must exist, and of each existing one of those that may be missing.
  func forEachTile(_ body: (_ index: Int) -> Void)

  /// Returns the defect of the tile, or the one that `check` finds in its bytes, as a predicate of the tile's name:
  /// `is missing`.
  func defect(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String?

  func isIntact(_ relativeName: String) -> Bool

  /// Defects of parts that are neither tiles nor entries.
  var otherDefects: [String] { get }

  /// Damage of the source that the archive was built from, according to its record.
  var sourceDamage: SourceDamage? { get }
}

extension CheckableArchive {
  package func forEachTile(_ body: (_ index: Int) -> Void) { (0..<pyramid.tileCount).forEach(body) }

  package var otherDefects: [String] { [] }

  package var sourceDamage: SourceDamage? { nil }
}

extension TileArchive: CheckableArchive {
  package var sourceDamage: SourceDamage? { buildRecord?.damage }

  package func defect(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String? {
    switch waitForTile(index) {
    case .here(let bytes, _):
      // No directory contains checksums of tiles that are separate files.
      if let stated = checksum(ofTile: index), TileStorage.checksum(bytes) != stated {
        return "is damaged: its checksum differs"
      }
      return check(bytes)
    case .notFound: return nil
    case .pending, .unreachable: return "cannot be reached"
    case .unreadable:
      guard zip != nil else { return "cannot be read" }
      return checksum(ofTile: index) == nil ? "is missing" : "cannot be read: its header is damaged"
    }
  }

  /// If the tiles are separate files, passes the existing ones alone. A pyramid may have more places than a program can
  /// check, and empty ones may be missing.
  package func forEachTile(_ body: (_ index: Int) -> Void) {
    guard let numbers = backing?.numbersOfTiles() else { return (0..<pyramid.tileCount).forEach(body) }
    numbers.forEach(body)
  }

  package var otherDefects: [String] {
    guard backing != nil else { return recordDefects }
    let empty = (coarsestLevel..<pyramid.levelCount).filter { !hasTiles(ofLevel: $0) }
    return empty.map { "level \($0) has no tiles" } + recordDefects
  }
}
