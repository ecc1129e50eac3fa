package import TileGeometry

/// An archive of which every part can be told to be what was written, or not.
package protocol CheckableArchive {
  var pyramid: Pyramid { get }
  var format: TileFormat { get }
  var fileExtension: String { get }
  /// Of the entries that are not tiles, sorted.
  var entryNames: [String] { get }

  /// What is wrong with the tile, or what `check` finds wrong with its bytes, behind the tile's name:
  /// `is missing`.
  func fault(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String?

  func isIntact(_ relativeName: String) -> Bool

  /// What is wrong with what is neither a tile nor an entry.
  var otherFaults: [String] { get }
}

extension CheckableArchive {
  package var otherFaults: [String] { [] }
}

extension SZIArchive: CheckableArchive {
  package func fault(ofTile index: Int, _ check: (UnsafeRawBufferPointer) -> String?) -> String? {
    guard let stated = checksum(ofTile: index) else {
      let isLeftOut = lacks(index) || pyramid.address(at: index).map { $0.level < coarsestLevel } ?? false
      return isLeftOut ? nil : "is missing"
    }
    guard let bytes = tile(index) else { return "cannot be read: its header is damaged" }
    guard TileStorage.checksum(bytes) == stated else { return "is damaged: its checksum differs" }
    return check(bytes)
  }
}
