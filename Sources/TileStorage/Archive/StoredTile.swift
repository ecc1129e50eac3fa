/// What an archive has at a tile's place.
package enum StoredTile {
  /// The encoded tile, alive as long as its archive, and what tells this version of it from those before it under
  /// the same generation.
  case here(UnsafeRawBufferPointer, stamp: UInt64)
  /// Whoever wrote the archive left it out, as `vips dzsave --skip-blanks` and `--depth` do: it is made from others.
  case notThere
  /// It is on its way.
  case notHereYet(TileArrival)
  /// It cannot be had now, which is no fault of the archive: there is no memory, no descriptor, no key.
  case unreachable
  /// There should be one, and it is missing or damaged.
  case unreadable

  /// The tile's bytes where they are here.
  package var bytes: UnsafeRawBufferPointer? { if case .here(let bytes, _) = self { bytes } else { nil } }
}
