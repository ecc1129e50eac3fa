import Glibc
import TileStorage
import ZigguratCMicroHTTPD
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileServing

/// Sends responses.
extension HTTPConnection {
  /// Sends a response and notes it for the log and the metrics.
  func send(_ response: Response) -> MHD_Result {
    guard hasMemory(for: response) else { return refuseDirectly(.longHead, isHead: request.isHead) }
    noteAnswer(
      response.status, request.isHead ? 0 : response.length ?? 0,
      reason: response.status >= 500 ? response.reason : nil)
    return queue(response)
  }

  /// Sends a stored tile: its bytes straight from the mapping.
  func send(_ tile: StoredTileResponse, _ head: TileResponseHead) -> MHD_Result {
    // Only the length of a body that is not sent is needed.
    let isSent = request.isGet && head.status != 304
    guard let response = Self.body(of: tile, head.part, fromFile: isSent) else { return .NO }
    defer { MHD_destroy_response(response) }
    server.tileServer.addHeaders(
      head, tile, request.target.query, { header($0) }, publicBase: { publicBase },
      { MHD_add_response_header(response, $0, $1) })
    return queue(UInt32(head.status), response)
  }

  /// Queues a response as it is.
  func queue(_ answer: Response) -> MHD_Result {
    var (status, content) = (UInt32(answer.status), answer.body)
    if case .omitted = answer.body {
      switch ChunkedBody.start(answer.status, at: socket) {
      case .sent: (status, content) = (ChunkedBody.queuedStatus, .bytes([]))
      case .notSent: break
      case .broken: return .NO
      }
    }
    guard let response = body(content) else { return .NO }
    defer { MHD_destroy_response(response) }
    for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
    return queue(status, response)
  }

  private func queue(_ status: UInt32, _ response: OpaquePointer) -> MHD_Result {
    if isChunked { MHD_add_response_header(response, "Connection", "close") }
    return DaemonRefusal.queueResponse(handle, status, response)
  }

  /// Notes an answer for the metrics, and for the log, which has it once it is sent.
  /// - Parameter bytes: the length of its body.
  func noteAnswer(_ status: Int, _ bytes: Int, reason: String? = nil) {
    request.setAnswer(status, bytes)
    guard server.log != nil else { return }
    request.logEntry = logEntry(String(cString: request.method), request.target, status, bytes, reason)
  }

  /// Returns the log entry of an answer.
  func logEntry(
    _ method: String, _ target: RequestTarget, _ status: Int, _ bytes: Int, _ reason: String? = nil
  ) -> AccessLog.Entry {
    let shown = target.logged(showsMetadata: server.tileServer.logsSearches)
    return AccessLog.Entry(
      client: origin?.description ?? "-", method: method, target: shown.target, status: status, bytes: bytes,
      referer: header("Referer").map {
        LoggedReferer(UnsafeRawBufferPointer(start: $0, count: strlen($0))).text
      },
      userAgent: header("User-Agent").map { String(cString: $0) }, reason: shown.isWhole ? reason : nil)
  }

  /// Whether the daemon has memory for the answer's head beside that of the request; without, it would end the
  /// connection and send nothing.
  private func hasMemory(for response: Response) -> Bool {
    // The status line, Date, Connection and Content-Length.
    var needed = 200
    for (name, value) in response.headers { needed += name.utf8.count + value.utf8.count + 4 }
    // The decoy has a record, too.
    let used = zg_head_size(handle) + HTTPServer.Limits.headerRecord * (request.headerCount + 1)
    return needed + used <= server.limits.connectionMemory
  }

  /// From the mapping, or from the file by sendfile(2) where that is cheaper: copying 70 KB into the socket
  /// costs more processor time than the three system calls around sendfile, copying 10 KB does not.
  private static func body(of tile: StoredTileResponse, _ part: Range<Int>, fromFile: Bool) -> OpaquePointer?
  {
    let bytes = UnsafeRawBufferPointer(rebasing: tile.bytes[part])
    if fromFile, bytes.count > 32768 {
      let (copy, offset) = tile.archive._withUnsafeGuaranteedRef { archive in
        // A tile that lies elsewhere has no place in a file.
        guard let file = archive.file else { return (Int32(-1), 0) }
        // The daemon closes the descriptor.
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

  private func body(_ content: Response.Body) -> OpaquePointer? {
    switch content {
    case .bytes(let bytes):
      bytes.withUnsafeBytes {
        MHD_create_response_from_buffer(
          $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
      }
    case .gathered(let bytes, let range): ScatterGatherReader.response(bytes, range)
    case .stream(let stream): StreamReader.response(stream, self)
    case .lengthOnly(let count): zg_response_of_length(UInt64(count))
    case .omitted: zg_response_without_length()
    }
  }
}
