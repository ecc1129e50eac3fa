package import TileStorage
package import ZigguratHTTPMessages
package import ZigguratThreads
import ZigguratTileProtocols

/// A stored tile on its way out: a slice of the archive's mapping, and who keeps it mapped.
///
/// Made without a string, an array or an object: this is what a server does all day.
package struct TileReply {
  package let bytes: UnsafeRawBufferPointer
  /// Retained once for whoever sends the bytes, and released by him afterwards.
  package let archive: Unmanaged<TileArchive>
  let generation: UInt64
  /// Not 0 where the tile may change while the generation stays.
  let stamp: UInt64
  let tile: Int
  /// `image/jpeg`, NUL-terminated, alive as long as the process.
  let mediaType: UnsafePointer<CChar>
  /// The link to the canonical URL; nil unless the tile was requested through IIIF.
  var link: IIIFTileLink?
  /// For no cache and no other site's page.
  let isPrivate: Bool
  /// By which a shared cache in front forgets it; nil without one.
  let surrogate: SurrogateKey?
}

/// The result of a look-up by path, which uses no strings.
package enum TileLookup {
  /// Not a stored tile's path: to be answered by `TileServer.respond`.
  case other
  case found(TileReply)
  /// A stored tile that has to be fetched from elsewhere.
  case pending(any Pending)
}

/// The response to a request for a stored tile.
package enum TileAnswer {
  case tile(TileHead)
  /// Another answer in its place.
  case instead(Response)
}

/// A stored tile's status and the part of it that is sent.
package struct TileHead {
  package let status: Int
  /// The bytes that the answer's length tells.
  package let part: Range<Int>
  let tag: TileTag

  /// Bytes that are sent to a GET.
  package var sentCount: Int { status == 304 ? 0 : part.count }
}
