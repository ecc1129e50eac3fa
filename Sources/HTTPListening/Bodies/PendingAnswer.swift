import CMicroHTTPD
import Glibc
import HTTPMessages
import Synchronization
import TileServing

/// The answer to a request whose picture is being rendered, or whose answer is made by another thread: its
/// connection is suspended meanwhile.
// Sendable: the connection is touched by another thread only while it is suspended, and resuming it is
// the last thing that thread does.
final class PendingAnswer: @unchecked Sendable {
  private let connection: OpaquePointer
  private let socket: Int32
  /// Everything but the bytes.
  private let answer: Response
  private let whole = Mutex<Response?>(nil)

  init(_ connection: OpaquePointer, _ answer: Response) {
    self.connection = connection
    self.answer = answer
    socket = zg_connection_socket(connection)
  }

  /// The whole answer, once the connection was resumed.
  var response: Response { whole.withLock { $0 } ?? .busy }

  /// Suspends the connection and has the answer made; the handler is called again afterwards.
  func wait(for answer: DeferredAnswer) {
    MHD_suspend_connection(connection)
    answer.make { [self] in resume($0) }
  }

  /// Suspends the connection and has the picture rendered; the handler is called again afterwards.
  func wait(in queue: RenderQueue, _ job: RenderJob, for client: ClientAddress) {
    // Before the job is given away: it may be done at once.
    MHD_suspend_connection(connection)
    let isTaken = queue.submit(
      job,
      RenderQueue.Waiter(
        client: client, isThere: { [self] in isClientThere },
        take: { [self] outcome in
          switch outcome {
          case .done(let picture): resume(answer.with(queue.unsent(picture, to: client)))
          case .refused(let instead): resume(instead)
          }
        }))
    if !isTaken { resume(.busy) }
  }

  private func resume(_ response: Response) {
    whole.withLock { $0 = response }
    MHD_resume_connection(connection)
  }

  /// False once the client has closed its end, or the connection broke.
  private var isClientThere: Bool {
    var byte: UInt8 = 0
    let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
  }
}
