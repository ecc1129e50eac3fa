package import TileStorage
package import ZigguratConcurrency
package import ZigguratHTTPMessages
import ZigguratTileProtocols

/// A stored tile to be sent: a slice of the archive's mapping, and the archive that keeps it mapped.
///
/// It is created without a string, an array or an object, because it is the hot path of the server.
package struct StoredTileResponse {
  package let bytes: UnsafeRawBufferPointer
  /// Retained once for the sender of the bytes, who must release it.
  package let archive: Unmanaged<TileArchive>
  let generation: UInt64
  /// The version of a tile that may change under the same generation; otherwise 0.
  let version: UInt64
  let tile: Int
  /// The media type, such as `image/jpeg`: NUL-terminated and valid until the process ends.
  let mediaType: UnsafePointer<CChar>
  /// The IIIF link, if the tile was requested through IIIF.
  var link: IIIFTileLink?
  /// Whether caches and pages of other sites must not have the tile.
  let isPrivate: Bool
  /// The key by which a shared cache purges the tile; `nil` without such a cache.
  let surrogate: SurrogateKey?
}

/// The result of looking up a path without creating strings.
package enum TileLookup {
  /// The path is not that of a stored tile; `TileServer.respond` handles the request.
  case other
  case found(StoredTileResponse)
  /// A stored tile that has to be fetched from remote storage, and its entity tag.
  case pending(any Pending, TileETag)
}

/// The response to a request for a stored tile.
package enum ConditionalTileResponse {
  case tile(TileResponseHead)
  /// Another response instead of the tile.
  case instead(Response)
}

/// The status of a stored tile, and the range that is sent.
package struct TileResponseHead {
  package let status: Int
  /// The range of bytes that the response's length describes.
  package let part: Range<Int>
  let tag: TileETag

  /// The number of bytes that are sent to a GET.
  package var sentCount: Int { status == 304 ? 0 : part.count }
}
