import Glibc
import Synchronization
import TileStorage
import ZigguratHTTPMessages

/// A request whose connection is suspended until its answer is there.
// Sendable: the connection is touched by another thread only while it is suspended, and resuming it is
// the last thing that thread does.
final class SuspendedRequest: @unchecked Sendable {
  private enum Outcome {
    case response(Response)
    case askAgain
  }

  /// The known state of the client.
  private enum Client {
    case there
    /// Its end of the connection is closed. It was sent an interim response.
    case asked
    case gone
  }

  private struct State {
    var outcome: Outcome?
    var client = Client.there
  }

  private let connection: Connection
  private let socket: Int32
  private let isHTTP10: Bool
  private let state = Mutex(State())
  /// The number of times that the request was asked again.
  private let rounds: Int

  /// - Parameter former: for what the connection was suspended when the same request was asked before.
  init(_ connection: Connection, after former: SuspendedRequest?) {
    self.connection = connection
    socket = connection.socket
    isHTTP10 = connection.request.isHTTP10
    rounds = former.map { $0.rounds + 1 } ?? 0
  }

  /// The answer, once the connection was resumed; `nil` if the request is to be handled again.
  var response: Response? {
    switch state.withLock({ $0.outcome }) {
    case .response(let response)?: response
    case .askAgain?: nil
    case nil: .tooBusy
    }
  }

  /// Suspends the connection and has the answer made; the handler is called again afterwards.
  func wait(for later: Later) {
    // Before it is begun: it may be done at once.
    connection.suspend()
    let askAgain: @Sendable () -> Void = { [self] in resume(.askAgain) }
    later.begin(
      Later.Waiter(
        isThere: { [self] in isClientThere }, askAgain: mayAskAgain ? askAgain : nil,
        take: { [self] in resume(.response($0)) }))
  }

  /// Suspends the connection until the request is to be asked again.
  func wait(for arrival: TileArrival) {
    connection.suspend()
    arrival.whenHere(isQuick: true) { [self] in resume(.askAgain) }
  }

  /// Whether the request may be handled again; false after it was several times.
  var mayAskAgain: Bool { rounds < TileArchive.patience }

  private func resume(_ outcome: Outcome) {
    state.withLock { $0.outcome = outcome }
    connection.resume()
  }

  /// False once the client is gone. After the answer was given the socket may be another connection's, so it is looked
  /// at only before.
  ///
  /// A client that closed its end may still read (RFC 9112, section 9.6), and a client that is gone has closed its end,
  /// too. The system of the latter resets the connection as soon as anything is sent to it, so an interim response is
  /// sent, which the former passes over (RFC 9110, section 15.2).
  private var isClientThere: Bool {
    state.withLock { state in
      guard state.outcome == nil else { return true }
      guard state.client != .gone else { return false }
      var byte: UInt8 = 0
      let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
      if count < 0, errno != EAGAIN, errno != EINTR { state.client = .gone }
      guard count == 0 else { return state.client != .gone }
      switch state.client {
      case .there where !isHTTP10:
        let interim: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
        let sent = send(
          socket, interim.utf8Start, interim.utf8CodeUnitCount, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        // Sent in part, it would spoil the answer.
        state.client = sent == interim.utf8CodeUnitCount ? .asked : .gone
      case .asked:
        var wait = pollfd(fd: socket, events: 0, revents: 0)
        if poll(&wait, 1, 0) > 0, wait.revents & Int16(POLLERR | POLLHUP) != 0 { state.client = .gone }
      case .there, .gone: break
      }
      return state.client != .gone
    }
  }
}
