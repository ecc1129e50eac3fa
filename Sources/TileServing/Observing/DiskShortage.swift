import Synchronization
import ZigguratUploading

/// A shortage of disk space for changes and uploads.
package enum DiskShortage: Int, Sendable {
  /// Less is free than uploads must leave.
  case nearlyFull = 1
  /// A change was refused, or hardly anything is free.
  case full

  /// For `/healthz`.
  var summary: String {
    switch self {
    case .nearlyFull: "the disk is nearly full, and uploads are refused"
    case .full: "the disk is full"
    }
  }
}

extension Site {
  /// Seconds for which a refused change counts, unless space was freed since.
  private static let refusalTime = 60
  /// Bytes below which a disk counts as full.
  private static let least = 1 << 20

  /// The shortage as it was last looked up; `nil` if there is room, or if nothing is written.
  package var diskShortage: DiskShortage? { DiskShortage(rawValue: shortage.load(ordering: .relaxed)) }

  /// Remembers that a change was refused for want of disk space. A quota shows in no other way.
  func noteFullDisk() {
    lastRefusal.withLock { $0 = (access.clock(), metrics.libraryFree.load(ordering: .relaxed)) }
    lookForShortage()
  }

  func lookForShortage() {
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
    shortage.store(found?.rawValue ?? 0, ordering: .relaxed)
  }
}
