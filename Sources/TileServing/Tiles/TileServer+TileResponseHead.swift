import Glibc
package import ZigguratHTTPMessages
import ZigguratTileProtocols

/// The headers of stored tiles, computed without a string, an array or an object except in rare cases.
extension TileServer {
  /// Returns the value of a request header by its name, as sent and valid as long as the request; `nil` if it is
  /// absent.
  package typealias Lookup = (UnsafePointer<CChar>) -> UnsafePointer<CChar>?

  /// Adds a response header. Its name and value are copied.
  package typealias Add = (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void

  /// Evaluates the conditions of a request for a stored tile.
  /// - Parameters:
  ///   - query: the query of the request, as sent.
  ///   - conditions: the preconditions and range of the request.
  package func answer(
    _ tile: StoredTileResponse, _ query: UnsafeRawBufferPointer, _ conditions: Conditions, _ lookup: Lookup
  ) -> ConditionalTileResponse {
    let tag = TileETag(generation: tile.generation, tile: tile.tile, version: tile.version)
    let count = tile.bytes.count
    switch tag.outcome(conditions, length: count) {
    case .whole: return .tile(TileResponseHead(status: 200, part: 0..<count, tag: tag))
    case .notModified: return .tile(TileResponseHead(status: 304, part: 0..<count, tag: tag))
    case .part(let part): return .tile(TileResponseHead(status: 206, part: part, tag: tag))
    case .unsatisfiable: return .tile(TileResponseHead(status: 416, part: 0..<0, tag: tag))
    case .preconditionFailed:
      var whole = Response(200, [], .omitted)
      addAudience(tile, query, lookup) { name, value in
        whole.headers.append((String(cString: name), String(cString: value)))
      }
      return .instead(whole.preconditionFailed.withSecurityHeaders)
    }
  }

  /// Adds all headers of a response with a tile.
  /// - Parameter publicBase: returns the public address for the request, if a proxy states one.
  package func addHeaders(
    _ head: TileResponseHead, _ tile: StoredTileResponse, _ query: UnsafeRawBufferPointer, _ lookup: Lookup,
    publicBase: () -> String? = { nil }, _ add: Add
  ) {
    if !tile.isPrivate {
      head.tag.withText { add("ETag", UnsafeRawPointer($0.baseAddress!).assumingMemoryBound(to: CChar.self)) }
    }
    addAudience(tile, query, lookup, isKept: head.status != 416, add)
    if head.status == 304 { return }
    add("Content-Type", tile.mediaType)
    add("Accept-Ranges", "bytes")
    switch head.status {
    case 200:
      guard let link = tile.link else { break }
      if access.readsForwardedBase {
        add("Vary", ForwardedBase.headers.joined(separator: ", "))
        if let base = publicBase() { return add("Link", link.text(base: base)) }
      }
      addLink(link, lookup, add)
    case 206:
      let (part, count) = (head.part, tile.bytes.count)
      add("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
      // A whole tile has no header that scripts need, and it is sent too often for additional bytes.
      if !tile.isPrivate, access.origins == .any {
        add(Response.exposedHeaders.name, Response.exposedHeaders.value)
      }
    default: add("Content-Range", "bytes */\(tile.bytes.count)")
    }
  }

  private func addLink(_ link: IIIFTileLink, _ lookup: Lookup, _ add: Add) {
    let host = lookup("Host").map { UnsafeRawBufferPointer(start: $0, count: strlen($0)) }
    address.withAbsoluteBase(host: host) { scheme, rest in
      let room = link.room + scheme.count + rest.count
      withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
        link.write(base: (scheme, rest), into: buffer)
        add("Link", buffer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self))
      }
    }
  }

  /// Adds the headers for caches and for pages of other sites.
  /// - Parameter isKept: whether the response may be cached; `false` for an error.
  private func addAudience(
    _ tile: StoredTileResponse, _ query: UnsafeRawBufferPointer, _ lookup: Lookup, isKept: Bool = true,
    _ add: Add
  ) {
    if tile.isPrivate {
      add("Cache-Control", "private, no-store")
      add("Cross-Origin-Resource-Policy", "same-origin")
      return
    }
    if isKept {
      let lifetime = CacheLifetime(
        tile.generation, asked: CacheLifetime.generation(in: query), mayChange: tile.version != 0)
      images.cacheControl.with(lifetime) { add("Cache-Control", $0) }
      if let surrogate = tile.surrogate {
        surrogate.withText { add("Surrogate-Key", $0) }
        if lifetime == .revalidate {
          add(CacheControlHeaders.nginxOneSecond.name, CacheControlHeaders.nginxOneSecond.value)
        }
      }
    } else {
      add("Cache-Control", "no-store")
    }
    guard case .listed = access.origins else {
      add("Access-Control-Allow-Origin", "*")
      return
    }
    let open = Response(200, [Response.anyOrigin], .omitted)
    let origin = lookup("Origin").map { String(cString: $0) }
    for (name, value) in crossOrigin.shared(open, with: origin, hasToken: lookup("Authorization") != nil)
      .headers
    {
      add(name, value)
    }
  }
}
