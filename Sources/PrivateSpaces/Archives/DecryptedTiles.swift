import Synchronization
import TileStorage
import ZigguratCSodium

/// The tiles of an encrypted archive for a server. They are decrypted on demand, kept in memory until the archive
/// should be reopened, and wiped with it.
final class DecryptedTiles: TileBacking {
  // Sendable: a buffer is written before it is stored, and neither changed nor freed before the archive ends.
  private struct Kept: @unchecked Sendable {
    var tiles: [Int: UnsafeRawBufferPointer] = [:]
    var entries: [String: UnsafeRawBufferPointer] = [:]
    var bytes = 0
  }

  private let archive: SealedArchive
  private let kept = Mutex(Kept())
  /// The number of bytes of all archives of the process.
  private static let total = Atomic<Int>(0)
  private static let totalLimit = 64 << 20
  private static let limit = 16 << 20
  /// The number of bytes up to which an archive stays open, even if all archives together have too many.
  private static let least = 1 << 20

  init(_ archive: SealedArchive) { self.archive = archive }

  deinit {
    kept.withLock { kept in
      for bytes in kept.tiles.values { Self.wipe(bytes) }
      for bytes in kept.entries.values { Self.wipe(bytes) }
      _ = Self.total.wrappingSubtract(kept.bytes, ordering: .relaxed)
    }
  }

  var shouldReopen: Bool {
    let bytes = kept.withLock { $0.bytes }
    return bytes > Self.limit
      || (bytes > Self.least && Self.total.load(ordering: .relaxed) > Self.totalLimit)
  }

  var isLocked: Bool { archive.isLocked }

  func tile(_ number: Int) -> StoredTile {
    if isLocked { return .unreachable }
    if let bytes = kept.withLock({ $0.tiles[number] }) { return .here(bytes, version: 0) }
    guard let count = archive.byteCount(ofTile: number) else { return .unreadable }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    guard archive.read(tile: number, into: buffer) else {
      buffer.deallocate()
      return isLocked ? .unreachable : .unreadable
    }
    let bytes = keep(UnsafeRawBufferPointer(buffer)) {
      $0.tiles[number]
    } _: {
      $0.tiles[number] = $1
    }
    return .here(bytes, version: 0)
  }

  func version(ofTile number: Int) -> UInt64? { archive.byteCount(ofTile: number) == nil ? nil : 0 }

  func entry(_ relativeName: String) -> UnsafeRawBufferPointer? {
    if isLocked { return nil }
    if let bytes = kept.withLock({ $0.entries[relativeName] }) { return bytes }
    guard let entry = archive.entry(relativeName) else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: entry.count, alignment: 16)
    buffer.copyBytes(from: entry)
    return keep(UnsafeRawBufferPointer(buffer)) {
      $0.entries[relativeName]
    } _: {
      $0.entries[relativeName] = $1
    }
  }

  var entryNames: [String] { isLocked ? [] : archive.entryNames }

  /// Stores decrypted bytes. If another thread has stored the same before, its bytes are used.
  private func keep(
    _ fresh: UnsafeRawBufferPointer, _ first: (Kept) -> UnsafeRawBufferPointer?,
    _ put: (inout Kept, UnsafeRawBufferPointer) -> Void
  ) -> UnsafeRawBufferPointer {
    // Nothing writes to it any more.
    nonisolated(unsafe) let fresh = fresh
    return kept.withLock { kept in
      if let first = first(kept) {
        Self.wipe(fresh)
        return first
      }
      put(&kept, fresh)
      kept.bytes += fresh.count
      _ = Self.total.wrappingAdd(fresh.count, ordering: .relaxed)
      return fresh
    }
  }

  private static func wipe(_ bytes: UnsafeRawBufferPointer) {
    let buffer = UnsafeMutableRawBufferPointer(mutating: bytes)
    if let base = buffer.baseAddress { sodium_memzero(base, buffer.count) }
    buffer.deallocate()
  }
}
