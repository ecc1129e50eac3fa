import Foundation
import Synchronization
import TileStorage
import ZigguratCatalog
import ZigguratConcurrency
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratTileServing

/// The maintenance of a server's library: it reads changes, purges removed images from caches, and reports errors.
final class LibraryMaintenance: Sendable {
  private let library: any ImageRepository
  private let tileServer: TileServer
  private let purging: CachePurger?
  private let isCatalogUpdated = CountingSemaphore()
  /// The reported reason why the catalog could not be updated.
  private let updateError = Mutex<String?>(nil)
  /// The reported state of a shared catalog.
  private let reportedState: Mutex<(outage: String?, isWriter: Bool)>
  /// Whether an outage of the images' source was reported.
  private let isSourceAway = Mutex(false)
  /// The last reported error of the database, and its time.
  private let refused = Mutex<(message: String, at: ContinuousClock.Instant)?>(nil)
  /// The reported reason why the library's folder could not be reached.
  private let outage = Mutex<String?>(nil)
  /// The reported folders on disks that are not mounted.
  private let unmounted = Mutex<[String]>([])
  /// The reported folders that cannot be read.
  private let unreadableFolders = Mutex<[String]>([])
  /// The number of archives that could not be read in the last scan; nil before the first.
  private let unreadable = Mutex<Int?>(nil)
  /// Whether it was reported that private spaces cannot be read.
  private let isSpaceRefused = Mutex(false)
  /// The reported shortage of disk space, and the time of the report.
  private let shortage = Mutex<(found: DiskShortage?, at: ContinuousClock.Instant?)>((nil, nil))
  private let spaces: (any SpaceOpener)?
  /// Whether the names of images are not reported, as in a private space.
  private let isSilent: Bool

  /// - Parameter spaces: the private spaces that clients may unlock; nil if they may not.
  init(
    _ library: any ImageRepository, _ tileServer: TileServer, _ purging: CachePurger?,
    _ spaces: (any SpaceOpener)?,
    isSilent: Bool
  ) {
    self.library = library
    self.tileServer = tileServer
    self.isSilent = isSilent
    self.purging = purging
    self.spaces = spaces
    reportedState = Mutex((nil, false))
  }

  func start() {
    StartedThread.needed { [self] in
      reportUnreadableFolders()
      update()
      isCatalogUpdated.signal()
      reportSpaces()
      while true {
        library.waitForChange()
        let start = ContinuousClock.now
        let needsUpdate = library.refresh()
        reportOutage()
        reportUnmounted()
        reportUnreadableFolders()
        reportSpaces()
        purging?.look(at: library)
        if needsUpdate { update() }
        reportSource()
        tileServer.purgeDeleted()
        tileServer.lookUpFreeSpace(library: library.folder)
        reportShortage()
        // Maintenance takes at most a tenth of the time.
        let cost = ContinuousClock.now - start
        Thread.sleep(forTimeInterval: max(0.05, min(1, 10 * (cost / .seconds(1)))))
      }
    }
    guard library.hasOneWriter else { return }
    // Removals are purged without a wait for updates.
    StartedThread.needed { [self] in
      while true {
        purging?.look(at: library)
        reportDatabase()
        Thread.sleep(forTimeInterval: 0.4)
      }
    }
  }

  /// Waits up to 0.3 seconds for the first update of the catalog, so that most libraries can be searched from the first
  /// request on.
  func waitForCatalog() { isCatalogUpdated.wait(upTo: 0.3) }

  /// Ends the right to write a shared catalog, so that another server can write it at once.
  func stop() {
    purging?.stop()
    library.catalog.handOver()
  }

  /// Updates the catalog. An error is reported once, and the next round tries again.
  private func update() {
    var reason: String?
    do throws(StorageError) {
      try library.updateCatalog(unreadable: { [library, isSilent] error in
        // Other repositories report each version of an archive once, by `defects`.
        if library.hasOneWriter, !isSilent { Output.error(error.description) }
      })
      reportUnreadableArchives()
    } catch { reason = error.reason }
    let isNew = updateError.withLock { error in
      defer { error = reason }
      return error != reason
    }
    guard isNew, !isSilent else { return }
    if let reason {
      Output.error("the catalog is not up to date, and is tried again: \(reason)")
    } else {
      Output.note("the catalog is up to date again")
    }
  }

  private func reportUnmounted() {
    let now = library.unmountedFolders
    let before = unmounted.withLock { unmounted in
      defer { unmounted = now }
      return unmounted
    }
    for folder in now where !before.contains(folder) {
      Output.error(
        "nothing is mounted at \(folder) any more; its images are answered with 503 until the disk is back")
    }
    for folder in before where !now.contains(folder) {
      Output.note("\(folder) is there again, or was removed")
    }
  }

  private func reportUnreadableFolders() {
    let now = library.unreadableFolders
    let before = unreadableFolders.withLock { folders in
      defer { folders = now }
      return folders
    }
    for folder in now where !before.contains(folder) {
      Output.error("\(readRefusal(folder) ?? "cannot read \(folder)"); its images are not served")
    }
    for folder in before where !now.contains(folder) { Output.note("\(folder) can be read again") }
  }

  /// Reports how many archives cannot be read: all at the start, and afterwards those with insufficient permissions.
  /// Others are reported when they are opened.
  private func reportUnreadableArchives() {
    let found = library.unreadableArchives
    let (isFirst, isMore) = unreadable.withLock { known in
      defer { known = found?.count ?? 0 }
      return (known == nil, (found?.count ?? 0) > known ?? 0)
    }
    guard isMore, !isSilent, let found else { return }
    let refusal = readRefusal(found.example)
    guard isFirst || refusal != nil else { return }
    let reason = refusal ?? "\(found.example) is damaged; 'ziggurat verify' names all of them"
    Output.error(
      "\(found.count) of \(Output.count(library.count, "archive")) cannot be read and are not listed: \(reason)"
    )
  }

  private func reportSpaces() {
    guard let spaces else { return }
    let refusal = spaces.lookForRefusal()
    let isNew = isSpaceRefused.withLock { isRefused in
      defer { isRefused = refusal != nil }
      return isRefused != (refusal != nil)
    }
    guard isNew else { return }
    if let refusal {
      Output.error("\(refusal); private spaces cannot be opened, or lack images")
    } else {
      Output.note("the private spaces can be read again")
    }
  }

  /// Reports a full disk, and free space on it again: at most one line a minute, unless the shortage gets worse.
  private func reportShortage() {
    let now = tileServer.diskShortage
    let isNew = shortage.withLock { shortage in
      let isWorse = (now?.rawValue ?? 0) > (shortage.found?.rawValue ?? 0)
      guard shortage.found != now,
        isWorse || shortage.at.map({ ContinuousClock.now - $0 > .seconds(60) }) ?? true
      else {
        return false
      }
      shortage = (now, .now)
      return true
    }
    guard isNew else { return }
    let disk = "the disk of \(library.folder ?? "the upload folder")"
    switch now {
    case .full: Output.error("\(disk) is full; changes and uploads are answered with 507")
    case .nearlyFull: Output.error("\(disk) is nearly full; uploads are answered with 507")
    case nil: Output.note("\(disk) has room again")
    }
  }

  private func reportOutage() {
    let now = library.outage
    let before = outage.withLock { outage in
      defer { outage = now }
      return outage
    }
    // One outage may have several reasons.
    guard (now == nil) != (before == nil) else { return }
    if let now {
      Output.error(
        "the library \(library.root) cannot be reached; images are answered with 503 until it is back: \(now)"
      )
    } else {
      Output.note("the library \(library.root) can be reached again")
    }
  }

  private func reportSource() {
    let outage = library.sourceOutage
    let isNew = isSourceAway.withLock { isAway in
      defer { isAway = outage != nil }
      return isAway != (outage != nil)
    }
    guard isNew, !isSilent else { return }
    if let outage {
      Output.error(
        "\(outage.summary): \(outage.reason); images in memory are served, and changes are not seen")
    } else {
      Output.note("the images' source is read again")
    }
  }

  private func reportDatabase() {
    let outage = library.catalog.outage
    let now = (outage: outage, isWriter: library.catalog.isWriter)
    let before = reportedState.withLock { state in
      defer { state = now }
      return state
    }
    if now.outage != before.outage {
      if let outage {
        Output.error("the catalog cannot be reached; images in memory are served meanwhile: \(outage)")
      } else {
        Output.note("the catalog can be reached again")
      }
    }
    if let refusal = library.catalog.takeRefusal() {
      let isNew = refused.withLock { refused in
        if let refused, refused.message == refusal, .now - refused.at < .seconds(60) { return false }
        refused = (refusal, .now)
        return true
      }
      if isNew { Output.error("the catalog's database reports an error: \(refusal)") }
    }
    if now.isWriter != before.isWriter {
      Output.note(
        now.isWriter ? "this server writes the catalog now" : "this server writes the catalog no more")
    }
  }
}
