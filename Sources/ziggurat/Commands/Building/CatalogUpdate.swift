import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratTileServing

/// The updates of the library's catalog after a build.
enum CatalogUpdate {
  /// Updates the rows of images that a repair has rebuilt. Rows of missing archives stay: their sources may be on a
  /// disk that is not mounted.
  static func run(_ library: String, of ids: [ImageID]) {
    do throws(StorageError) {
      try FolderRepository(root: library).renew(
        ids.map { ($0, $0.archive(in: library)) }, isWritten: true)
    } catch {
      Output.note("the catalog is not up to date: \(error.reason)")
    }
  }

  /// Updates the whole catalog. An error is reported but is not a failure: the next program that opens the catalog
  /// updates it.
  static func run(_ library: String) {
    do throws(StorageError) {
      try FolderRepository(root: library).updateCatalog(isCancelled: { SignalHandler.isAsked })
    } catch {
      Output.note("the catalog is not up to date: \(error.reason)")
    }
  }
}
