import Glibc
import TileStorage
import ZigguratCMicroHTTPD
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileServing

/// Sends a stored tile: its bytes straight from the mapping.
/// - Returns: the daemon's word, and the bytes that a GET is sent.
func sendTile(
  _ tile: TileReply, _ head: TileHead, _ context: ServerContext, _ target: RequestTarget,
  _ connection: OpaquePointer
) -> MHD_Result {
  guard let response = body(of: tile, head.part) else { return .NO }
  defer { MHD_destroy_response(response) }
  context.site.addHeaders(
    head, tile, target.query, { header(connection, $0) }, publicBase: { context.publicBase(of: connection) },
    { MHD_add_response_header(response, $0, $1) })
  return queue(UInt32(head.status), response, connection)
}

/// From the mapping, or from the file by sendfile(2) where that is cheaper: copying 70 KB into the socket
/// costs more processor time than the three system calls around sendfile, copying 10 KB does not.
private func body(of tile: TileReply, _ part: Range<Int>) -> OpaquePointer? {
  let bytes = UnsafeRawBufferPointer(rebasing: tile.bytes[part])
  if bytes.count > 32768 {
    let (copy, offset) = tile.archive._withUnsafeGuaranteedRef { archive in
      // A tile that lies elsewhere has no place in a file.
      guard let file = archive.file else { return (Int32(-1), 0) }
      // The daemon closes what it is given.
      return (
        fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0),
        bytes.baseAddress.unsafelyUnwrapped - file.bytes.baseAddress.unsafelyUnwrapped
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

/// Sends any other answer.
func send(_ answer: Response, _ connection: OpaquePointer) -> MHD_Result {
  var (status, content) = (UInt32(answer.status), answer.body)
  if case .omitted = answer.body {
    switch UnsizedAnswer.start(answer.status, at: zg_connection_socket(connection)) {
    case .sent: (status, content) = (UnsizedAnswer.queuedStatus, .bytes([]))
    case .notSent: break
    case .broken: return .NO
    }
  }
  guard let response = body(content, connection) else { return .NO }
  defer { MHD_destroy_response(response) }
  for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
  return queue(status, response, connection)
}

private func body(_ content: Response.Body, _ connection: OpaquePointer) -> OpaquePointer? {
  switch content {
  case .bytes(let bytes):
    bytes.withUnsafeBytes {
      MHD_create_response_from_buffer(
        $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
    }
  case .gathered(let bytes, let range): GatheredReader.response(bytes, range)
  case .stream(let stream): StreamReader.response(stream, connection)
  case .lengthOnly(let count): zg_response_of_length(UInt64(count))
  case .omitted: zg_response_without_length()
  }
}

/// Whether the connection ends with this request.
func isLast(_ connection: OpaquePointer) -> Bool {
  deadline(connection)?._withUnsafeGuaranteedRef { $0.isChunked } ?? false
}

private func queue(_ status: UInt32, _ response: OpaquePointer, _ connection: OpaquePointer) -> MHD_Result {
  if isLast(connection) { MHD_add_response_header(response, "Connection", "close") }
  return DaemonRefusal.queueResponse(connection, status, response)
}
