import Glibc
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratIntake
import ZigguratObjectStore
import ZigguratPrivateSpaces

/// The library that a server serves: a folder, one archive, a private space, or a library in an object store.
enum ServedLibrary {
  static let options = [
    Option(
      "object-cache-size", .megabytes, default: "256MB", was: "store-memory",
      help: "Memory for tiles that were read from an object store"),
    Option(
      "catalog", "URL",
      help: "Shared catalog, postgresql://USER@HOST/DATABASE, made by 'ziggurat catalog migrate'"),
    Option(
      "advertise-url", "URL", requires: "catalog", was: "own-url",
      help: "URL of this server for other servers, which redirect changes to the one that writes"),
  ].grouped(.library)

  /// Opens the library. A library that cannot be read is reported now.
  static func open(
    _ place: String, _ space: PrivateSpace?, openLimit: Int, storeMemory: Int, _ arguments: Arguments
  ) throws(StorageError) -> (library: any ImageRepository, bucket: ObjectLibrary?) {
    if let space {
      return (try ListRepository(SpaceSource(space: space), name: "private space", openLimit: openLimit), nil)
    }
    // A server asks again by itself.
    if let bucket = try ObjectLibrary.named(
      place, memoryLimit: storeMemory, limits: .server, report: Output.error)
    {
      let name = bucket.address.description
      guard let address = arguments.string("catalog") else {
        return (try ListRepository(ObjectSource(bucket), name: name, openLimit: openLimit), bucket)
      }
      // Nobody is sent to a server that takes no changes.
      let isWritable = (try? arguments.flag("writable")) ?? false
      let ownURL = isWritable ? arguments.string("advertise-url") ?? "" : ""
      let catalog = try Catalog(
        postgreSQL: address, library: name, ownURL: ownURL.hasSuffix("/") ? String(ownURL.dropLast()) : ownURL
      )
      return (
        try SharedCatalogRepository(ObjectRows(bucket), name: name, openLimit: openLimit, catalog: catalog),
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

  static func check(catalog address: String) throws(UsageError) {
    guard Catalog.isPostgreSQL(address) else {
      // The value is not shown: it may hold a password.
      throw .requires("--catalog", "a URL of the form postgresql://USER@HOST/DATABASE")
    }
  }

  /// Refuses options that the kind of the library excludes.
  static func check(_ place: String, _ arguments: Arguments) throws(UsageError) {
    let isBucket = ObjectLibrary.isMeant(by: place)
    let isShared = isBucket && arguments.string("catalog") != nil
    if try arguments.flag("writable"), !isShared, isBucket || SingleArchive(path: place) != nil {
      let what = isBucket ? "a library in an object store without --catalog" : "one archive"
      throw .conflict(arguments.spelled("writable"), "\(what): \(place)")
    }
    _ = try ServerURL.read("advertise-url", arguments)
    if let uploads = arguments.string("upload-dir") {
      guard isShared else {
        throw .requires(arguments.spelled("upload-dir"), "a library in an object store and --catalog")
      }
      var status = stat()
      guard stat(uploads, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw arguments.invalid("upload-dir", expected: "an existing folder")
      }
      if try arguments.flag("keep-originals") {
        throw .conflict(arguments.spelled("keep-originals"), "a library in an object store")
      }
    }
    if let address = arguments.string("catalog") {
      try check(catalog: address)
      if try arguments.flag("space") || !isBucket {
        throw .requires("--catalog", "a library in an object store; others have a catalog of their own")
      }
    }
    guard isBucket else { return }
    // Garbage collection knows nothing of what was deleted here, and may remove its archives after two days.
    if let seconds = try arguments.quantity("keep-deleted", in: 0...315_360_000), seconds > 48 * 3600 {
      throw arguments.invalid(
        "keep-deleted",
        expected: "at most 48 hours for an object store, where 'reindex --gc' removes archives")
    }
    if try arguments.flag("space") {
      throw .conflict("--space", "a library in an object store")
    }
  }
}
