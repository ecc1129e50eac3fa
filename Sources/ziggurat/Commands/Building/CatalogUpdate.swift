import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratTileServing

/// What a build does for the library's listing.
enum CatalogUpdate {
  /// Updates the rows of images that a repair has rebuilt. Rows of missing archives stay: their sources may be on a disk
  /// that is not mounted.
  static func run(_ library: String, of ids: [ImageID]) {
    do throws(StorageError) {
      try FolderRepository(root: library).renew(
        ids.map { ($0, $0.archive(in: library)) }, isWritten: true)
    } catch {
      Output.note("the catalog is not up to date: \(error.reason)")
    }
  }

  /// A catalog that cannot be kept up is told of and fails nothing: the next to open it makes up for it.
  static func run(_ library: String) {
    do throws(StorageError) {
      try FolderRepository(root: library).updateCatalog(isCancelled: { Interruption.isAsked })
    } catch {
      Output.note("the catalog is not up to date: \(error.reason)")
    }
  }
}
