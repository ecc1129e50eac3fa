import CMicroHTTPD
import Files
import Glibc
import HTTPMessages
import TileServing
import TileStorage

/// Sends a stored tile: its bytes straight from the mapping, its tag from a stack buffer.
/// - Parameters:
///   - isPrivate: for no cache and no other site's page.
///   - isGet: ranges count for GET alone (RFC 9110, section 14.2).
///   - status: the one sent, for the log.
func sendTile(
  _ tile: TileReply, of site: Site, _ target: RequestTarget, _ connection: OpaquePointer, isGet: Bool,
  isPrivate: Bool,
  status: inout Int
) -> MHD_Result {
  guard let response = body(of: tile) else { return .NO }
  defer { MHD_destroy_response(response) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 48) { tag in
    writeTag(tile, tag.baseAddress.unsafelyUnwrapped)
    let tagText = UnsafePointer(tag.baseAddress.unsafelyUnwrapped)
    if let header = MHD_lookup_connection_value(connection, .HEADER_KIND, "If-Match"),
      !EntityTag(tile).isMatched(byIfMatch: listHeader(connection, "If-Match", first: header))
    {
      status = 412
      return send(.preconditionFailed, connection, status: &status)
    }
    if !isPrivate { MHD_add_response_header(response, "ETag", tagText) }
    addAudience(tile, of: site, target, isPrivate, response, connection)
    if let header = MHD_lookup_connection_value(connection, .HEADER_KIND, "If-None-Match"),
      strcmp(header, tagText) == 0
        || EntityTag(tile).isMatched(
          byIfNoneMatch: listHeader(connection, "If-None-Match", first: header))
    {
      status = 304
      return queue(304, response, connection)
    }
    if isGet, let header = MHD_lookup_connection_value(connection, .HEADER_KIND, "Range") {
      return sendPart(
        of: tile, site, target, String(cString: header), tagText, connection, isPrivate, status: &status)
    }
    MHD_add_response_header(response, "Content-Type", tile.mediaType)
    MHD_add_response_header(response, "Accept-Ranges", "bytes")
    if let link = tile.link { add(link, site, connection, response) }
    return queue(200, response, connection)
  }
}

/// From the mapping, or from the file by sendfile(2) where that is cheaper: copying 70 KB into the socket
/// costs more processor time than the three system calls around sendfile, copying 10 KB does not.
private func body(of tile: TileReply) -> OpaquePointer? {
  let bytes = tile.bytes
  if bytes.count > 32768 {
    let (copy, offset) = tile.archive._withUnsafeGuaranteedRef { archive in
      // The daemon closes what it is given.
      (
        // A tile that is a file of its own does not lie in the archive's.
        archive.isFolder ? -1 : fcntl(archive.file.descriptor, F_DUPFD_CLOEXEC, 0),
        bytes.baseAddress.unsafelyUnwrapped - archive.file.bytes.baseAddress.unsafelyUnwrapped
      )
    }
    // Without a free descriptor the mapping serves.
    if copy >= 0 {
      if let response = MHD_create_response_from_fd_at_offset64(UInt64(bytes.count), copy, UInt64(offset)) {
        return response
      }
      close(copy)
    }
  }
  return MHD_create_response_from_buffer(
    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_PERSISTENT)
}

/// 206 with the part that was asked for, 416 where the tile has none of it, or all of it where the header
/// asks for several parts or in another unit (RFC 9110, section 14.2).
private func sendPart(
  of tile: TileReply, _ site: Site, _ target: RequestTarget, _ header: String, _ tag: UnsafePointer<CChar>,
  _ connection: OpaquePointer, _ isPrivate: Bool, status: inout Int
) -> MHD_Result {
  let range = ByteRange(
    header, length: tile.bytes.count, tag: String(cString: tag), ifRange: ifRange(connection))
  let part = UnsafeRawBufferPointer(rebasing: tile.bytes[range.bytes])
  guard
    let response = MHD_create_response_from_buffer(
      part.count, UnsafeMutableRawPointer(mutating: part.baseAddress), .RESPMEM_PERSISTENT)
  else { return .NO }
  defer { MHD_destroy_response(response) }
  if let text = range.contentRange { MHD_add_response_header(response, "Content-Range", text) }
  MHD_add_response_header(response, "Content-Type", tile.mediaType)
  if !isPrivate { MHD_add_response_header(response, "ETag", tag) }
  // A part carries what the whole would (RFC 9110, section 15.3.7).
  addAudience(tile, of: site, target, isPrivate, response, connection, isCached: range.status != 416)
  MHD_add_response_header(response, "Accept-Ranges", "bytes")
  status = range.status
  return queue(range.status, response, connection)
}

private func add(
  _ link: IIIFTileLink, _ site: Site, _ connection: OpaquePointer, _ response: OpaquePointer
) {
  let host = MHD_lookup_connection_value(connection, .HEADER_KIND, "Host").map {
    UnsafeRawBufferPointer(start: $0, count: strlen($0))
  }
  site.withAbsoluteBase(host: host) { scheme, rest in
    withUnsafeTemporaryAllocation(byteCount: link.room + scheme.count + rest.count, alignment: 1) { buffer in
      link.write(base: (scheme, rest), into: buffer)
      MHD_add_response_header(
        response, "Link", buffer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: CChar.self))
    }
  }
}

/// Who may keep and read the answer.
private func addAudience(
  _ tile: TileReply, of site: Site, _ target: RequestTarget, _ isPrivate: Bool, _ response: OpaquePointer,
  _ connection: OpaquePointer, isCached: Bool = true
) {
  if isPrivate {
    MHD_add_response_header(response, "Cache-Control", "private, no-store")
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin")
    return
  }
  if isCached {
    MHD_add_response_header(
      response, "Cache-Control",
      tile.stamp == 0 && target.generation == tile.generation ? pinned : revalidated)
  }
  guard case .listed = site.origins else {
    MHD_add_response_header(response, "Access-Control-Allow-Origin", "*")
    return
  }
  let empty = Response(200, [Response.anyOrigin], .bytes([]))
  for (name, value) in share(empty, of: site, connection).headers {
    MHD_add_response_header(response, name, value)
  }
}

/// The answer with what browsers are to let other sites' pages do with it.
func share(_ answer: Response, of site: Site, _ connection: OpaquePointer) -> Response {
  guard case .listed = site.origins else { return answer }
  let origin = MHD_lookup_connection_value(connection, .HEADER_KIND, "Origin").map { String(cString: $0) }
  let hasToken = MHD_lookup_connection_value(connection, .HEADER_KIND, "Authorization") != nil
  return site.shared(answer, with: origin, hasToken: hasToken)
}

func ifRange(_ connection: OpaquePointer) -> String? {
  MHD_lookup_connection_value(connection, .HEADER_KIND, "If-Range").map { String(cString: $0) }
}

// Literals: never written, so safe to share.
nonisolated(unsafe) private let pinned: UnsafePointer<CChar> = cString("public, max-age=31536000, immutable")
nonisolated(unsafe) private let revalidated: UnsafePointer<CChar> = cString("public, no-cache")

/// A literal's bytes, which live as long as the process.
private func cString(_ text: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// `"generation-tile"`, hexadecimal, the same text as `EntityTag(generation:tile:stamp:)`.
private func writeTag(_ tile: TileReply, _ buffer: UnsafeMutablePointer<CChar>) {
  var at = 0
  func put(_ byte: UInt8) {
    buffer[at] = CChar(bitPattern: byte)
    at += 1
  }
  func putHexadecimal(_ number: UInt64) {
    var shift = max(0, (63 - number.leadingZeroBitCount) / 4 * 4)
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
      put(digit < 10 ? 0x30 + digit : 0x57 + digit)
      shift -= 4
    }
  }
  put(0x22)
  putHexadecimal(tile.generation ^ tile.stamp)
  put(0x2d)
  putHexadecimal(UInt64(tile.tile))
  put(0x22)
  put(0)
}

/// Sends any other answer.
func send(_ answer: Response, _ connection: OpaquePointer, status: inout Int) -> MHD_Result {
  status = answer.status
  if isKnown(answer, connection) { status = 304 }
  guard let response = body(of: answer, connection) else { return .NO }
  defer { MHD_destroy_response(response) }
  for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
  for (name, value) in Response.caution where answer.header(name) == nil {
    MHD_add_response_header(response, name, value)
  }
  return queue(status, response, connection)
}

/// Whether the client has the answer already, by its If-None-Match.
func isKnown(_ answer: Response, _ connection: OpaquePointer) -> Bool {
  guard answer.status == 200, let tag = answer.header("ETag"),
    let header = MHD_lookup_connection_value(connection, .HEADER_KIND, "If-None-Match")
  else { return false }
  return EntityTag(text: tag).isMatched(
    byIfNoneMatch: listHeader(connection, "If-None-Match", first: header))
}

/// Whether a read asks for another version than there is, by its If-Match (RFC 9110, section 13.1.1).
func isOtherVersion(_ answer: Response, _ connection: OpaquePointer) -> Bool {
  guard answer.status == 200, let tag = answer.header("ETag"),
    let header = MHD_lookup_connection_value(connection, .HEADER_KIND, "If-Match")
  else { return false }
  return !EntityTag(text: tag).isMatched(byIfMatch: listHeader(connection, "If-Match", first: header))
}

private func body(of answer: Response, _ connection: OpaquePointer) -> OpaquePointer? {
  switch answer.body {
  case .bytes(let bytes):
    return bytes.withUnsafeBytes {
      MHD_create_response_from_buffer(
        $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
    }
  case .mapped(let file, let range):
    let owner = Unmanaged.passRetained(file)
    let start = UnsafeMutableRawPointer(mutating: file.bytes.baseAddress! + range.lowerBound)
    let response = MHD_create_response_from_buffer_with_free_callback_cls(
      range.count, start, { Unmanaged<MappedFile>.fromOpaque($0!).release() }, owner.toOpaque())
    if response == nil { owner.release() }
    return response
  case .rendering, .deferred:
    // Of the first only a 304 comes here, whose length nobody knows and nobody has to.
    return MHD_create_response_from_callback(UInt64.max, 1, { _, _, _, _ in -1 }, nil, nil)
  case .rendered(let unsent, let range):
    let owner = Unmanaged.passRetained(unsent)
    let response = MHD_create_response_from_buffer_with_free_callback_cls(
      range.count,
      UnsafeMutableRawPointer(mutating: unsent.picture.bytes.baseAddress.map { $0 + range.lowerBound }),
      { Unmanaged<UnsentPicture>.fromOpaque($0!).release() }, owner.toOpaque())
    if response == nil { owner.release() }
    return response
  case .events(let stream): return EventReader.response(stream, connection)
  case .gathered(let bytes, let range): return GatheredReader.response(bytes, range)
  }
}

/// 400 or 414, and the connection ends: what follows on it cannot be trusted.
func sendRefusal(_ status: Int, _ why: StaticString, _ connection: OpaquePointer) -> MHD_Result {
  guard
    let response = MHD_create_response_from_buffer(
      why.utf8CodeUnitCount, UnsafeMutableRawPointer(mutating: why.utf8Start), .RESPMEM_PERSISTENT)
  else { return .NO }
  defer { MHD_destroy_response(response) }
  MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8")
  for (name, value) in Response.caution { MHD_add_response_header(response, name, value) }
  MHD_add_response_header(response, "Connection", "close")
  return queue(status, response, connection)
}

/// Whether the connection ends with this request.
func isLast(_ connection: OpaquePointer) -> Bool {
  deadline(connection)?._withUnsafeGuaranteedRef { $0.isChunked } ?? false
}

private func queue(_ status: Int, _ response: OpaquePointer, _ connection: OpaquePointer) -> MHD_Result {
  if isLast(connection) { MHD_add_response_header(response, "Connection", "close") }
  return MHD_queue_response(connection, UInt32(status), response)
}
