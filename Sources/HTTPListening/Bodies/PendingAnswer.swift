import CMicroHTTPD
import Glibc
import HTTPMessages
import Synchronization
import TileStorage

/// An answer that is waited for: its connection is suspended meanwhile.
// Sendable: the connection is touched by another thread only while it is suspended, and resuming it is
// the last thing that thread does.
final class PendingAnswer: @unchecked Sendable {
  private enum Told {
    case response(Response)
    case askAgain
  }

  private let connection: OpaquePointer
  private let socket: Int32
  private let told = Mutex<Told?>(nil)
  /// How often the request was asked again.
  private let rounds: Int

  /// - Parameter former: for what the connection was suspended when the same request was asked before.
  init(_ connection: OpaquePointer, after former: PendingAnswer?) {
    self.connection = connection
    socket = zg_connection_socket(connection)
    rounds = former.map { $0.rounds + 1 } ?? 0
  }

  /// The answer, once the connection was resumed; nil where the request is to be asked again.
  var response: Response? {
    switch told.withLock({ $0 }) {
    case .response(let response)?: response
    case .askAgain?: nil
    case nil: .tooBusy
    }
  }

  /// Suspends the connection and has the answer made; the handler is called again afterwards.
  func wait(for later: Later) {
    // Before it is begun: it may be done at once.
    MHD_suspend_connection(connection)
    let askAgain: @Sendable () -> Void = { [self] in resume(.askAgain) }
    later.begin(
      Later.Waiter(
        isThere: { [self] in isClientThere }, askAgain: mayAskAgain ? askAgain : nil,
        take: { [self] in resume(.response($0)) }))
  }

  /// Suspends the connection until the request is to be asked again.
  func wait(for arrival: TileArrival) {
    MHD_suspend_connection(connection)
    arrival.whenHere(isQuick: true) { [self] in resume(.askAgain) }
  }

  /// False where that was done as often as is of use.
  var mayAskAgain: Bool { rounds < TileArchive.patience }

  private func resume(_ told: Told) {
    self.told.withLock { $0 = told }
    MHD_resume_connection(connection)
  }

  /// False once the client has closed its end, or the connection broke. After the answer was given the socket may be
  /// another connection's, so it is looked at only before.
  private var isClientThere: Bool {
    told.withLock { told in
      guard told == nil else { return true }
      var byte: UInt8 = 0
      let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
      return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
    }
  }
}
