package import ZigguratConcurrency
import ZigguratFiles

/// The state of a tile in an archive.
package enum StoredTile {
  /// The encoded tile, valid as long as its archive. The version distinguishes it from other states of the tile under
  /// the same generation.
  case here(UnsafeRawBufferPointer, version: UInt64)
  /// The program that wrote the archive omitted it, as `vips dzsave --skip-blanks` and `--depth` do. It is made from
  /// others.
  case notFound
  /// The tile is being fetched.
  case pending(any Pending)
  /// It is unavailable at present because memory, a descriptor or a key is missing. The archive is not damaged.
  case unreachable
  /// The tile should exist, but is missing or damaged.
  case unreadable

  /// The tile's bytes, if they are in memory.
  package var bytes: UnsafeRawBufferPointer? { if case .here(let bytes, _) = self { bytes } else { nil } }

  /// Returns the tile's bytes; nil if the archive was written without it.
  ///
  /// - Parameter action: the verb and the tile, for the error.
  func required(_ action: String) throws(StorageError) -> UnsafeRawBufferPointer? {
    switch self {
    case .here(let bytes, _): return bytes
    case .notFound: return nil
    case .pending, .unreachable: throw StorageError(action, "it is unavailable", kind: .unreachable)
    case .unreadable: throw StorageError(action, "it is missing or damaged", kind: .unreadable)
    }
  }
}
