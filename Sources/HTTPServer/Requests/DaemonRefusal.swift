import Glibc
import ZigguratCMicroHTTPD
import ZigguratHTTPMessages
import ZigguratTileServing

/// The requests that libmicrohttpd refuses by itself, before the handler is called or between two calls: a head that
/// does not fit into the connection's memory, a line that it cannot parse, a malformed Content-Length.
///
/// Its own answers are pages that no client of this server expects, and the one to a malformed Content-Length has its
/// head twice (0.9.75). It announces none of them. To send such an answer, it calls its own function
/// `MHD_queue_response` through the dynamic symbol table, where a definition in the program comes first (ld.so(8)).
/// That definition stands below. It is called on the connection's event loop, for the connection that is being
/// processed, and touches no other. If a build of the library binds the call to its own function
/// (-Bsymbolic-functions), the library's own answers are sent, and the tests of malformed requests fail.
enum DaemonRefusal {
  typealias QueueResponse = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> MHD_Result

  /// The library's own function, which sends this program's answers.
  static let queueResponse: QueueResponse = {
    // RTLD_NEXT, a cast that Swift does not import.
    let next = UnsafeMutableRawPointer(bitPattern: -1)
    guard let symbol = dlsym(next, "MHD_queue_response") else {
      fatalError("libmicrohttpd has no MHD_queue_response")
    }
    return unsafeBitCast(symbol, to: QueueResponse.self)
  }()

  /// Returns the reason that the library had for a status.
  fileprivate static func reason(_ status: UInt32, _ connection: HTTPConnection) -> MalformedRequest {
    // After the handler saw the headers, only the lines of a chunked body are left to refuse.
    if !connection.request.isIdle {
      switch status {
      case 413: return .chunkTooLarge
      case 431: return .longHead
      // The line is longer than the memory, and the library calls that an internal error.
      case 500: return .longChunkLine
      default: return .chunkLine
      }
    }
    switch status {
    case 413: return .lengthTooLarge
    case 414: return .longURL
    case 431: return .longHead
    case 505: return .version
    default: break
    }
    if let length = connection.header("Content-Length"), ContentLengthError(length.bytes) != nil {
      return .lengthNoNumber
    }
    return .unparsable
  }
}

/// Replaces libmicrohttpd's function for calls of the library itself.
///
/// The library continues as if its response were sent: its caller does not expect a closed connection and would read
/// from it. Its write fails because this side of the connection has ended, and then it closes the connection.
@_cdecl("MHD_queue_response")
public func queueDaemonRefusal(
  _ handle: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?
) -> UInt32 {
  handle.flatMap(HTTPConnection.of)?._withUnsafeGuaranteedRef { connection in
    _ = connection.refuseDirectly(DaemonRefusal.reason(status, connection))
  }
  return DaemonRefusal.queueResponse(handle, status, response).rawValue
}
