import CMicroHTTPD
import Glibc
import HTTPMessages
import Synchronization

/// An answer that is waited for: its connection is suspended meanwhile.
// Sendable: the connection is touched by another thread only while it is suspended, and resuming it is
// the last thing that thread does.
final class PendingAnswer: @unchecked Sendable {
  private let connection: OpaquePointer
  private let socket: Int32
  private let told = Mutex<Response?>(nil)

  init(_ connection: OpaquePointer) {
    self.connection = connection
    socket = zg_connection_socket(connection)
  }

  /// The answer, once the connection was resumed.
  var response: Response { told.withLock { $0 } ?? .tooBusy }

  /// Suspends the connection and has the answer made; the handler is called again afterwards.
  func wait(for later: Later) {
    // Before it is begun: it may be done at once.
    MHD_suspend_connection(connection)
    later.begin(
      Later.Waiter(
        isThere: { [self] in isClientThere },
        take: { [self] response in
          told.withLock { $0 = response }
          MHD_resume_connection(connection)
        }))
  }

  /// False once the client has closed its end, or the connection broke.
  private var isClientThere: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
  }
}
