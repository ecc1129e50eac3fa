import Catalog
package import Files
import TileStorage

extension Library {
  /// The id of the picture that was made from such a file; that of the book where it has several pages.
  ///
  /// It is looked up in the catalog, which is first brought to what the folders hold: no archive is opened that
  /// the catalog knows.
  /// - Parameter digest: of the file's content, as build records have it.
  package func image(madeFrom digest: String) throws(StorageError) -> ImageID? {
    guard rows == nil else {
      // What servers share tells what it has, also while what builders have written cannot be read.
      if refresh() { _ = try? updateCatalog() }
      return try catalog.entries(madeFrom: digest).first.map { $0.book ?? $0.id }
    }
    if refresh() { try updateCatalog() }
    let table = current
    let twin = try catalog.entries(madeFrom: digest).first { table.entry($0.id)?.stamp == $0.stamp }
    return twin.map { $0.book ?? $0.id }
  }

  /// What the image, or book, is called now that had the id before its source was renamed; nil where none had, or it is
  /// there no more.
  package func id(ofMoved old: ImageID) -> ImageID? {
    guard source == nil else { return nil }
    let table = current
    return MovedImages(library: root).id(old) { table.entry($0) != nil || table.hasImages(below: $0) }
  }
}
