package import HTTPMessages
package import TileStorage

/// A stored tile on its way out: a slice of the archive's mapping, and who keeps it mapped.
///
/// Made without a string, an array or an object: this is what a server does all day.
package struct TileReply {
  package let bytes: UnsafeRawBufferPointer
  /// Retained once for whoever sends the bytes, and released by him afterwards.
  package let archive: Unmanaged<SZIArchive>
  package let generation: UInt64
  /// Not 0 where the tile may change while the generation stays.
  package let stamp: UInt64
  package let tile: Int
  /// `image/jpeg`, NUL-terminated, alive as long as the process.
  package let mediaType: UnsafePointer<CChar>
  /// Where the tile was asked for through IIIF.
  package var link: IIIFTileLink?
  /// For no cache and no other site's page.
  package let isPrivate: Bool
}

extension EntityTag {
  /// Of a stored tile.
  package init(_ tile: TileReply) {
    self.init(generation: tile.generation, tile: tile.tile, stamp: tile.stamp)
  }
}

/// What a path asks for on the way that needs no strings.
package enum TileLookup {
  /// Not a stored tile's path: to be answered by `Site.respond`.
  case other
  case found(TileReply)
}
