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
}

extension CheckableArchive {
  package func forEachTile(_ body: (_ index: Int) -> Void) { (0..<pyramid.tileCount).forEach(body) }

  package var otherFaults: [String] { [] }
}

extension SZIArchive: CheckableArchive {
  package func fault(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String? {
    if isFolder {
      // No directory states a checksum.
      guard let bytes = tile(index) else { return "cannot be read" }
      return check(bytes)
    }
    guard let stated = checksum(ofTile: index) else {
      let isLeftOut = lacks(index) || pyramid.address(at: index).map { $0.level < coarsestLevel } ?? false
      return isLeftOut ? nil : "is missing"
    }
    guard let bytes = tile(index) else { return "cannot be read: its header is damaged" }
    guard TileStorage.checksum(bytes) == stated else { return "is damaged: its checksum differs" }
    return check(bytes)
  }

  /// Of tiles that are files those that there are: a pyramid may have more places than anybody can look at, and those
  /// that are empty may have been left out.
  package func forEachTile(_ body: (_ index: Int) -> Void) {
    guard let files = loose as? FolderTiles else { return (0..<pyramid.tileCount).forEach(body) }
    files.forEachTile(body)
  }

  package var otherFaults: [String] {
    guard isFolder else { return [] }
    let empty = (coarsestLevel..<pyramid.levelCount).filter { !hasTiles(ofLevel: $0) }
    return empty.map { "level \($0) has no tiles" }
  }
}
