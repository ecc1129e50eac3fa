import Catalog
import Files
import Glibc
import ImageLibrary
import Intake
import ObjectStore
import PrivateSpaces
import TileStorage

/// What a server is given to serve: a library's folder, one archive, a private space, or a library in an object store.
enum ServedLibrary {
  static let options = [
    Option("open-archives", "512", help: "archives kept open, the least recently used closed first"),
    Option("store-memory", "256", help: "of a library in an object store: MB of tiles that were read"),
    Option(
      "catalog", "URL",
      help: "the list that servers share, postgresql://USER@HOST/DATABASE: 'ziggurat catalog'"),
    Option(
      "own-url", "URL", needs: "catalog",
      help: "where others are sent with changes, while this server is the one that writes"),
  ]

  /// What cannot be read is told now.
  static func open(
    _ place: String, _ space: PrivateSpace?, openLimit: Int, storeMemory: Int, _ arguments: Arguments
  ) throws(StorageError) -> (library: Library, bucket: ObjectLibrary?) {
    if let space {
      return (try Library(SpaceSource(space: space), name: "private space", openLimit: openLimit), nil)
    }
    // A server asks again by itself.
    if let bucket = try ObjectLibrary.named(
      place, memoryLimit: storeMemory, limits: .server, report: Output.error)
    {
      let name = bucket.address.description
      guard let address = arguments.string("catalog") else {
        return (try Library(ObjectSource(bucket), name: name, openLimit: openLimit), bucket)
      }
      // Nobody is sent to a server that takes no changes.
      let isWritable = (try? arguments.flag("writable")) ?? false
      let ownURL = isWritable ? arguments.string("own-url") ?? "" : ""
      let catalog = try Catalog(
        postgreSQL: address, library: name, ownURL: ownURL.hasSuffix("/") ? String(ownURL.dropLast()) : ownURL
      )
      return (try Library(ObjectRows(bucket), name: name, openLimit: openLimit, catalog: catalog), bucket)
    }
    if let archive = SingleArchive(path: place) {
      _ = try archive.images().first?.open()
      return (try Library(archive, name: place, openLimit: openLimit), nil)
    }
    // A folder that cannot be written keeps its journal.
    try? MoveJournal.finish(in: place)
    return (try Library(root: place, openLimit: openLimit, watches: true), nil)
  }

  static func check(catalog address: String) throws(UsageError) {
    guard Catalog.isPostgreSQL(address) else {
      // Not told: what is no such URL may hold a password anywhere.
      throw UsageError("--catalog takes a URL, postgresql://USER@HOST/DATABASE")
    }
  }

  /// Refuses what goes with folders alone.
  static func check(_ place: String, _ arguments: Arguments) throws(UsageError) {
    let isBucket = ObjectLibrary.isMeant(by: place)
    let isShared = isBucket && arguments.string("catalog") != nil
    if try arguments.flag("writable"), !isShared, isBucket || SingleArchive(path: place) != nil {
      let what = isBucket ? "lies in an object store" : "is one archive"
      throw UsageError(
        "'\(place)' \(what), which is not \(arguments.spelled("writable")); a library's folder is, and one with --catalog"
      )
    }
    _ = try ServerURL.read("own-url", arguments)
    if let uploads = arguments.string("upload-folder") {
      guard isShared else {
        throw UsageError(
          "--upload-folder is for a library in an object store; a folder has its uploads in itself")
      }
      var status = stat()
      guard stat(uploads, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw UsageError("--upload-folder: there is no folder '\(uploads)'")
      }
      if try arguments.flag("keep-sources") {
        throw UsageError("--keep-sources is for a library's folder: a store has archives alone")
      }
    }
    if let address = arguments.string("catalog") {
      try check(catalog: address)
      if try arguments.flag("space") || !isBucket {
        throw UsageError(
          "--catalog is for a library in an object store; a folder has a catalog of its own, as one archive and a private space"
        )
      }
    }
    guard isBucket else { return }
    // A sweep, which knows nothing of what was deleted here, may remove its archives after two days.
    if let hours = try arguments.int("keep-deleted", in: 0...87_600), hours > 48 {
      throw UsageError(
        "--keep-deleted is at most 48 hours for a library in an object store: 'index --sweep' removes archives then"
      )
    }
    if try arguments.flag("space") {
      throw UsageError("--space and an object store do not go together: a private space is a folder's")
    }
  }
}
