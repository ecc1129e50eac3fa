import Glibc
import TileStorage
import ZigguratAdapters
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

enum ReindexCommand: Command {
  static let name = "reindex"
  static let formerName: String? = "index"
  static let usage = "DIR|s3://BUCKET/PREFIX"
  static let summary = "Rebuild a library's catalog from its archives."
  static let options = [
    Option("plan", "FILE", help: "Plan whose shards were built: records the sources of the images"),
    Option("journal-dir", "DIR", requires: "plan", was: "reports", help: "Folder of the shards' journals"),
    Option(
      "gc", was: "sweep",
      help: "Mark archives without images in an object store, and remove those marked two days ago"),
    Option("catalog", "URL", help: "Shared catalog of a library in an object store, which is updated, too"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let folder = try arguments.onlyOperand("library folder")
    let (plan, reports) = (arguments.string("plan"), arguments.string("journal-dir"))
    let shared = arguments.string("catalog")
    if shared != nil, !ObjectLibrary.isMeant(by: folder) {
      throw .requires("--catalog", "a library in an object store; a folder has a catalog of its own")
    }
    if let shared { try CatalogURL(shared).check() }
    let sweeps = try arguments.flag("gc")
    if sweeps, !ObjectLibrary.isMeant(by: folder) {
      throw .requires(arguments.spelled("gc"), "a library in an object store")
    }
    if plan != nil, reports == nil { throw .requires("--plan", "--journal-dir") }
    if let code = ProgramWorkers.start() { return code }
    SignalHandler.listen()
    do throws(StorageError) {
      if let bucket = try ObjectLibrary.named(folder, report: Output.error) {
        // The shards of a plan have recorded their sources themselves.
        try bucket.compact()
        Output.result("\(bucket.images().count) images\n")
        if sweeps {
          let swept = try bucket.sweep()
          Output.result(
            "\(swept.removed) archives without images removed, \(swept.bytes) bytes; \(swept.marked) marked\n"
          )
        }
        return try shared.map { (shared) throws(StorageError) in try bring(shared, to: bucket) } ?? .success
      }
      try? MoveJournal.finish(in: folder)
      let library = try FolderRepository(root: folder)
      if library.count == 0, library.catalog.isInMemory {
        Output.error(StartupBanner.noArchive(in: folder))
        return .someFailed
      }
      if let reason = library.catalog.memoryReason {
        Output.error("cannot write \(folder)/\(Catalog.fileName): \(reason)")
        return freeBytes(at: folder).map { $0 < 1 << 20 } ?? false ? .temporary : .someFailed
      }
      if let plan, let reports { try PlannedBuild.claim(plan, reports, in: folder, library.catalog) }
      var unreadable = 0
      let count = try library.updateCatalog(
        readsAll: true, isCancelled: { SignalHandler.isAsked },
        unreadable: { error in
          unreadable += 1
          Output.error(error.description)
        })
      if SignalHandler.isAsked {
        Output.error("interrupted; what is in the catalog stays")
        return .interrupted
      }
      Output.result("\(count - unreadable) images\n")
      if library.wordlessCount > 0 {
        Output.error(
          "sidecars of \(library.wordlessCount) images could not be read; the next command that opens the catalog reads them"
        )
        return .temporary
      }
      return unreadable == 0 ? .success : .someFailed
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
  }

  /// Updates the shared catalog from the bucket, unless a server does so already.
  private static func bring(_ address: String, to bucket: ObjectLibrary) throws(StorageError) -> ExitCode {
    let name = bucket.address.description
    let library = try SharedCatalogRepository(
      ObjectImages(bucket), name: name, catalog: Catalog(postgreSQL: address, library: name))
    // A server that has just ended counts as alive for this long.
    for _ in 0..<5 where !library.catalog.isWriter { sleep(1) }
    guard library.catalog.isWriter else {
      if let outage = library.catalog.outage {
        Output.error("the catalog cannot be reached: \(outage)")
        return .temporary
      }
      if let refusal = library.catalog.takeRefusal() {
        Output.error("the catalog's database reports an error: \(refusal)")
        return .someFailed
      }
      Output.note("a server keeps the catalog; it takes in what is new by itself\n")
      return .success
    }
    let count = try library.updateCatalog(
      isCancelled: { SignalHandler.isAsked }, unreadable: { Output.error($0.description) })
    if SignalHandler.isAsked { return .interrupted }
    Output.result("\(count) new in the catalog\n")
    return .success
  }
}
