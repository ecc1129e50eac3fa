import Synchronization
import ZigguratFiles
import ZigguratUploading

/// A shortage of disk space for changes and uploads.
package enum DiskShortage: Int, Sendable {
  /// The free space is below the reserve that uploads must leave.
  case nearlyFull = 1
  /// A change was refused, or almost no space is free.
  case full

  /// The description for `/healthz`.
  var summary: String {
    switch self {
    case .nearlyFull: "the disk is nearly full, and uploads are refused"
    case .full: "the disk is full"
    }
  }
}

/// Whether the disks of the library and of the uploads have room for changes.
final class DiskSpace: Sendable {
  private let access: TileServerConfiguration
  private let metrics: Metrics
  private let uploads: Uploads?
  /// A `DiskShortage`, or 0.
  private let state = Atomic<Int>(0)
  /// The last refusal of a change for lack of disk space: its time by `TileServerConfiguration.clock`, and the bytes that were
  /// free. `nil` if there was none.
  private let lastRefusal = Mutex<(time: Int, free: Int)?>(nil)

  init(_ access: TileServerConfiguration, _ metrics: Metrics, _ uploads: Uploads?) {
    self.access = access
    self.metrics = metrics
    self.uploads = uploads
  }

  /// Seconds for which a refused change counts, unless space was freed since.
  private static let refusalTime = 60
  /// Bytes below which a disk counts as full.
  private static let least = 1 << 20

  /// The shortage at the last check; `nil` if there is enough room or nothing is written.
  var shortage: DiskShortage? { DiskShortage(rawValue: state.load(ordering: .relaxed)) }

  /// Records that a change was refused for lack of disk space. An exceeded quota is visible in no other way.
  func noteRefusal() {
    lastRefusal.withLock { $0 = (access.clock(), metrics.libraryFree.load(ordering: .relaxed)) }
    lookForShortage()
  }

  private func lookForShortage() {
    guard access.isWritable else { return }
    let libraryFree = metrics.libraryFree.load(ordering: .relaxed)
    let free = [libraryFree, metrics.uploadsFree.load(ordering: .relaxed)]
    var found = DiskShortage?.none
    if let uploads, !uploads.hasRoom(0) { found = .nearlyFull }
    if free.contains(where: { (0..<Self.least).contains($0) }) { found = .full }
    if let last = lastRefusal.withLock({ $0 }), access.clock() - last.time < Self.refusalTime,
      libraryFree < last.free + Self.least
    {
      found = .full
    }
    state.store(found?.rawValue ?? 0, ordering: .relaxed)
  }

  /// Measures the free space that `/metrics` and `/healthz` report. May block on a file system that hangs.
  /// - Parameter library: the folder; `nil` if the library is not a folder.
  func lookUp(library: String?) {
    metrics.libraryFree.store(library.flatMap(freeBytes(at:)) ?? -1, ordering: .relaxed)
    metrics.uploadsFree.store(uploads?.freeBytes ?? -1, ordering: .relaxed)
    lookForShortage()
  }
}
