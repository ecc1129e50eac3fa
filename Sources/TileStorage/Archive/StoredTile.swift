import ZigguratFiles
package import ZigguratThreads

/// What an archive has at a tile's place.
package enum StoredTile {
  /// The encoded tile, alive as long as its archive, and what tells this version of it from those before it under
  /// the same generation.
  case here(UnsafeRawBufferPointer, stamp: UInt64)
  /// Whoever wrote the archive left it out, as `vips dzsave --skip-blanks` and `--depth` do: it is made from others.
  case notThere
  /// It is on its way.
  case pending(any Pending)
  /// It is not available at present, which is no fault of the archive: there is no memory, no descriptor, no key.
  case unreachable
  /// There should be one, and it is missing or damaged.
  case unreadable

  /// The tile's bytes where they are here.
  package var bytes: UnsafeRawBufferPointer? { if case .here(let bytes, _) = self { bytes } else { nil } }

  /// Returns the tile's bytes; `nil` if the archive was written without it.
  ///
  /// - Parameter action: the verb and the tile, for the error.
  func required(_ action: String) throws(StorageError) -> UnsafeRawBufferPointer? {
    switch self {
    case .here(let bytes, _): return bytes
    case .notThere: return nil
    case .pending, .unreachable: throw StorageError(action, "it is unavailable", kind: .unreachable)
    case .unreadable: throw StorageError(action, "it is missing or damaged", kind: .unreadable)
    }
  }
}
