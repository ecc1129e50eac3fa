import TileStorage
import ZigguratAdapters
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratPrivateSpaces

/// Opens the library of a server: a folder, one archive, a private space, or a library in an object store.
enum LibraryOpener {
  /// Returns the library and, if it is in an object store, its bucket.
  ///
  /// - Parameters:
  ///   - space: the private space to serve alone; nil for all other libraries.
  ///   - openLimit: the maximum number of open archives.
  static func open(
    _ configuration: ServerConfiguration, _ space: PrivateSpace?, openLimit: Int
  ) throws(StorageError) -> (library: any ImageRepository, bucket: ObjectLibrary?) {
    if let space {
      return (try ListRepository(SpaceSource(space: space), name: "private space", openLimit: openLimit), nil)
    }
    let settings = configuration.library
    let place = settings.location
    // A server repeats requests by itself.
    if let bucket = try ObjectLibrary.named(
      place, memoryLimit: settings.objectCacheSize, limits: .server, report: Output.error)
    {
      let name = bucket.address.description
      guard let address = settings.catalog?.text else {
        return (try ListRepository(ObjectSource(bucket), name: name, openLimit: openLimit), bucket)
      }
      // Other servers redirect changes only to a server that accepts them.
      let ownURL = configuration.changes.isWritable ? settings.advertiseURL ?? "" : ""
      let catalog = try Catalog(
        postgreSQL: address, library: name, ownURL: ownURL.hasSuffix("/") ? String(ownURL.dropLast()) : ownURL
      )
      return (
        try SharedCatalogRepository(ObjectImages(bucket), name: name, openLimit: openLimit, catalog: catalog),
        bucket
      )
    }
    if let archive = SingleArchive(path: place) {
      _ = try archive.images().first?.open()
      return (try ListRepository(archive, name: place, openLimit: openLimit), nil)
    }
    // A folder that cannot be written keeps its journal.
    try? MoveJournal.finish(in: place)
    let library = try FolderRepository(root: place, openLimit: openLimit, watches: true)
    if library.catalog.replacesDamaged {
      Output.note("\(place)/\(Catalog.fileName) was damaged and is made again from the archives")
    }
    return (library, nil)
  }
}
