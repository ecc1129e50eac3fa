import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratTileProtocols
import ZigguratTileRendering

/// The lookup of stored tiles, which creates no string and no object.
extension TileServer {
  /// Looks up a stored tile by its path and query as sent.
  /// - Parameters:
  ///   - route: the route of path and query.
  ///   - cookies: returns the Cookie header. Called only for a private image or if a launch key is required.
  package func tile(
    _ route: Route, _ path: UnsafeRawBufferPointer, query: UnsafeRawBufferPointer,
    cookies: () -> UnsafePointer<CChar>?
  ) -> TileLookup {
    guard case .tiles(let request) = route else { return .other }
    if let launchKey, !launchKey.admits(cookies()) { return .other }
    // Downloads have a file name, which only the general path handles.
    if Download.isPossible(query) { return .other }
    let path = RawPath(path, query: query)
    let rawID = path.bytes(request.id)
    return withUnsafeTemporaryAllocation(byteCount: rawID.count, alignment: 1) { buffer in
      // Damaged or unknown ids and all failures are handled by the general path.
      guard var id = Self.unescape(rawID, into: buffer), !id.isEmpty else { return .other }
      var library = self.library
      let isPrivate = RawPath(id).starts(with: ImageReference.privateMark)
      if isPrivate {
        guard let cookies = cookies(), let space = sessions.space(cookies: cookies) else { return .other }
        library = space.library
        id = UnsafeRawBufferPointer(rebasing: id[ImageReference.privateMark.utf8CodeUnitCount...])
      }
      let limits = pictures.options.limits
      guard let (archive, idLength) = Self.archive(id, of: request, path, query, in: library),
        case let place = request.place(in: archive.pyramid, limits), case .stored(let address) = place,
        let number = archive.tileIndex(level: address.level, column: address.column, row: address.row),
        request.format == PictureFormat(archive.format)
      else { return .other }
      guard let (bytes, version) = archive.versionedTile(number) else {
        guard let version = archive.version(ofTile: number), let tile = archive.pendingTile(number) else {
          return .other
        }
        return .pending(tile, TileETag(generation: archive.generation, tile: number, version: version))
      }
      return .found(
        StoredTileResponse(
          bytes: bytes, archive: Unmanaged.passRetained(archive), generation: archive.generation,
          version: version, tile: number, mediaType: archive.format.mediaTypeCharacters,
          link: request.link(path, to: place, in: archive.pyramid, limits),
          isPrivate: isPrivate || launchKey != nil,
          surrogate: isPrivate
            ? nil
            : access.surrogateSeed.map {
              SurrogateKey(of: UnsafeRawBufferPointer(rebasing: id[..<idLength]), $0)
            }))
    }
  }

  /// Returns the image's archive and the length of the image's id in `id`. Also returns `nil` if the archive cannot
  /// be read.
  @inline(__always)
  private static func archive(
    _ id: UnsafeRawBufferPointer, of request: TileRequest, _ path: RawPath, _ query: UnsafeRawBufferPointer,
    in library: any ImageRepository
  ) -> (TileArchive, idLength: Int)? {
    do throws(StorageError) {
      if let archive = try library.archive(id, generation: CacheLifetime.generation(in: query)) {
        return (archive, id.count)
      }
      // Suffixes of file names contain no escapes.
      let length = request.endingLength(path)
      guard length > 0, length < id.count else { return nil }
      let name = UnsafeRawBufferPointer(rebasing: id.dropLast(length))
      return try library.archive(name, generation: CacheLifetime.generation(in: query)).map {
        ($0, name.count)
      }
    } catch { return nil }
  }

  /// Percent-decodes into `buffer`; `nil` if an escape is malformed or decodes to NUL.
  private static func unescape(
    _ text: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    var (at, count) = (0, 0)
    while at < text.count {
      var byte = text[at]
      at += 1
      if byte == UInt8(ascii: "%") {
        guard at + 1 < text.count, let high = PercentEncoding.hexDigit(text[at]),
          let low = PercentEncoding.hexDigit(text[at + 1])
        else { return nil }
        byte = high << 4 | low
        at += 2
      }
      guard byte != 0 else { return nil }
      buffer[count] = byte
      count += 1
    }
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }
}
