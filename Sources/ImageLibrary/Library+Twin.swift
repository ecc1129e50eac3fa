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
    if refresh() { try updateCatalog() }
    let table = current
    let twin = try catalog.entries(madeFrom: digest).first { table.entry($0.id)?.stamp == $0.stamp }
    return twin.map { $0.book ?? $0.id }
  }
}
