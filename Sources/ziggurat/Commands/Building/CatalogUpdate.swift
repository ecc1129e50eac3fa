import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratTileServing

/// What a build does for the library's listing.
enum CatalogUpdate {
  /// A catalog that cannot be kept up is told of and fails nothing: the next to open it makes up for it.
  static func run(_ library: String) {
    do throws(StorageError) {
      try FolderRepository(root: library).updateCatalog(isCancelled: { Interruption.isAsked })
    } catch {
      Output.note("the catalog is not up to date: \(error.reason)")
    }
  }
}
