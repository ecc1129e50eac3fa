import Foundation
import ZigguratAdapters
import ZigguratConcurrency
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// The work of a server besides requests: maintenance of the library, processing of uploads, and periodic tasks.
struct BackgroundTasks {
  private let library: any ImageRepository
  private let tileServer: TileServer
  private let process: ServerProcess
  private let maintenance: LibraryMaintenance
  private let processing: UploadProcessor?

  init(
    _ configuration: ServerConfiguration, _ process: ServerProcess, _ server: RunningServer,
    _ library: any ImageRepository,
    _ bucket: ObjectLibrary?
  ) {
    self.library = library
    self.process = process
    let tileServer = server.tileServer
    self.tileServer = tileServer
    let purging = server.cacheKey.map { key in
      CachePurger(
        configuration.caches.purgeURLs.compactMap { PurgeClient($0, key: key.text) }, key.seed, of: library)
    }
    maintenance = LibraryMaintenance(
      library, tileServer, purging, process.access.spaces, isSilent: configuration.spaces.isServedAlone)
    processing = server.uploads.map { uploads in
      let root = configuration.uploadRoot
      let store = bucket?.storeOfUploads(scratch: "\(root)/archives")
      return UploadProcessor(uploads, library: library, root: root, store: store, space: tileServer.space)
    }
  }

  /// Starts all tasks, and waits shortly for the first update of the catalog.
  func start() {
    // The names of images in a private space are not reported.
    if process.space == nil { library.archiveErrors.observe { Output.error($0) } }
    maintenance.start()
    processing?.start()
    StartedThread.needed {
      [
        tileServer, spaces = process.access.spaces, requests = process.lockRequests,
        isAlone = process.space != nil
      ]
      in
      var seconds = 0
      while true {
        Thread.sleep(forTimeInterval: 1)
        seconds += 1
        tileServer.expireSessions()
        // A space may have been created since.
        _ = spaces?.isOffered
        if seconds % 10 == 0 { tileServer.events.beat() }
        if seconds % 30 == 0 { Malloc.giveBack() }
        guard requests.isNew() else { continue }
        // A server of a private space ends when the space is locked.
        if isAlone { kill(getpid(), SIGTERM) } else { tileServer.lockSpaces() }
      }
    }
    maintenance.waitForCatalog()
  }

  /// Stops all tasks after the last request, and the build, if there is one.
  func stop(_ build: ServerBuild?) {
    processing?.stop()
    build?.stop()
    maintenance.stop()
  }
}
