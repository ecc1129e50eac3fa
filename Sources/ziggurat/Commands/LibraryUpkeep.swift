import Catalog
import Files
import Foundation
import ImageLibrary
import ObjectStore
import Synchronization
import Threads
import TileServing
import TileStorage

/// What a server does for its library as long as it runs: takes in what has changed, has caches forget what is gone, and
/// tells who runs it what of this does not go.
final class LibraryUpkeep: Sendable {
  private let library: Library
  private let site: Site
  private let purging: EdgePurging?
  private let catalogued = WakeUps()
  /// Why the catalog could not be brought up to date, as was told last.
  private let fault = Mutex<String?>(nil)
  /// What was told last of a catalog that servers share.
  private let told: Mutex<(outage: String?, isWriter: Bool)>
  /// Whether the log says that the images' source cannot be read.
  private let isSourceAway = Mutex(false)
  /// What a database would not do, as was told last.
  private let refused = Mutex<(words: String, at: ContinuousClock.Instant)?>(nil)
  /// Why the library's folder could not be reached, as was told last.
  private let outage = Mutex<String?>(nil)
  /// The library's folders on disks that are not mounted, as the log says.
  private let unmounted = Mutex<[String]>([])
  /// Of a private space no image is named.
  private let isSilent: Bool

  init(_ library: Library, _ site: Site, _ purging: EdgePurging?, isSilent: Bool) {
    (self.library, self.site, self.isSilent) = (library, site, isSilent)
    self.purging = purging
    told = Mutex((nil, false))
  }

  func start() {
    StartedThread.needed { [self] in
      update()
      catalogued.signal()
      while true {
        library.waitForChange()
        let start = ContinuousClock.now
        let needsUpdate = library.refresh()
        tellOfOutage()
        reportUnmounted()
        if !library.asksForImages { purging?.look(at: library) }
        if needsUpdate { update() }
        reportSource()
        site.purgeDeleted()
        site.lookUpFreeSpace(library: library.isInMemory ? nil : library.root)
        // However much happens, most of the time is others'.
        let cost = ContinuousClock.now - start
        Thread.sleep(forTimeInterval: max(0.05, min(1, 10 * (cost / .seconds(1)))))
      }
    }
    guard library.asksForImages else { return }
    // What is gone does not wait for what is new.
    StartedThread.needed { [self] in
      while true {
        purging?.look(at: library)
        tellOfDatabase()
        Thread.sleep(forTimeInterval: 0.4)
      }
    }
  }

  /// A library of some size can be searched from the first request on; a vast one is not waited for.
  func waitForCatalog() { catalogued.wait(upTo: 0.3) }

  /// Another server may write the catalog at once.
  func stop() {
    purging?.stop()
    library.catalog.handOver()
  }

  /// What fails now is tried again with the next round, and told once.
  private func update() {
    var reason: String?
    do throws(StorageError) {
      try library.updateCatalog(unreadable: { [library, isSilent] error in
        // Of a folder's the library itself tells, once for each version.
        if library.asksForImages, !isSilent { Output.error(error.description) }
      })
    } catch { reason = error.reason }
    let isNew = fault.withLock { fault in
      defer { fault = reason }
      return fault != reason
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

  private func tellOfOutage() {
    let now = library.outage
    let before = outage.withLock { outage in
      defer { outage = now }
      return outage
    }
    // Reasons may change while it is away: it is one outage.
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
      Output.error("\(outage.summary): \(outage.reason); what is known is served, and changes are not seen")
    } else {
      Output.note("the images' source is read again")
    }
  }

  private func tellOfDatabase() {
    let outage = library.catalog.outage
    let now = (outage: outage, isWriter: library.catalog.isWriter)
    let before = told.withLock { told in
      defer { told = now }
      return told
    }
    if now.outage != before.outage {
      if let outage {
        Output.error("the catalog cannot be asked; what is known is served meanwhile: \(outage)")
      } else {
        Output.note("the catalog can be asked again")
      }
    }
    if let refusal = library.catalog.takeRefusal() {
      let isNew = refused.withLock { refused in
        if let refused, refused.words == refusal, .now - refused.at < .seconds(60) { return false }
        refused = (refusal, .now)
        return true
      }
      if isNew { Output.error("the catalog's database refuses what it is asked: \(refusal)") }
    }
    if now.isWriter != before.isWriter {
      Output.note(
        now.isWriter ? "this server writes the catalog now" : "this server writes the catalog no more")
    }
  }
}
