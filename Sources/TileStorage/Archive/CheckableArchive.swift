package import TileGeometry

/// An archive of which every part can be told to be what was written, or not.
package protocol CheckableArchive {
  var pyramid: Pyramid { get }
  var format: TileFormat { get }
  var fileExtension: String { get }
  /// Of the entries that are not tiles, sorted.
  var entryNames: [String] { get }

  /// Calls `body` with the number of each tile that there should be, or that there is of those that may be left out.
  func forEachTile(_ body: (_ index: Int) -> Void)

  /// What is wrong with the tile, or what `check` finds wrong with its bytes, behind the tile's name:
  /// `is missing`.
  func fault(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String?

  func isIntact(_ relativeName: String) -> Bool

  /// What is wrong with what is neither a tile nor an entry.
  var otherFaults: [String] { get }

  /// Damage of the source that the archive was built from, as its record has it.
  var sourceDamage: SourceDamage? { get }
}

extension CheckableArchive {
  package func forEachTile(_ body: (_ index: Int) -> Void) { (0..<pyramid.tileCount).forEach(body) }

  package var otherFaults: [String] { [] }

  package var sourceDamage: SourceDamage? { nil }
}

extension TileArchive: CheckableArchive {
  package var sourceDamage: SourceDamage? { buildRecord?.damage }

  package func fault(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String? {
    switch awaited(index) {
    case .here(let bytes, _):
      // No directory states a checksum of tiles that are files of their own.
      if let stated = checksum(ofTile: index), TileStorage.checksum(bytes) != stated {
        return "is damaged: its checksum differs"
      }
      return check(bytes)
    case .notThere: return nil
    case .pending, .unreachable: return "cannot be reached"
    case .unreadable:
      guard zip != nil else { return "cannot be read" }
      return checksum(ofTile: index) == nil ? "is missing" : "cannot be read: its header is damaged"
    }
  }

  /// Of tiles that are files those that there are: a pyramid may have more places than anybody can look at, and those
  /// that are empty may have been left out.
  package func forEachTile(_ body: (_ index: Int) -> Void) {
    guard let numbers = backing?.numbersOfTiles() else { return (0..<pyramid.tileCount).forEach(body) }
    numbers.forEach(body)
  }

  package var otherFaults: [String] {
    guard backing != nil else { return recordFaults }
    let empty = (coarsestLevel..<pyramid.levelCount).filter { !hasTiles(ofLevel: $0) }
    return empty.map { "level \($0) has no tiles" } + recordFaults
  }
}
