import Glibc
import Synchronization
import ZigguratCMicroHTTPD
import ZigguratConcurrency

/// Sockets of connections that the server has ended while the client may still be sending (RFC 9112, section 9.6).
///
/// Closing a socket with unread bytes resets its connection, and the client loses the response that it has not read
/// yet. Therefore the client's data are read and discarded until it closes its side or a timeout expires.
final class LingeringSockets: Sendable {
  /// The maximum number of sockets; further ones are closed immediately.
  static let capacity = 128
  private static let milliseconds = 2000
  /// The maximum number of bytes that are read from one client.
  private static let maxBytes = 32 << 20

  private struct Socket {
    let descriptor: Int32
    let end: Int
    var bytes = 0
  }

  private struct State {
    var fresh: [Socket] = []
    var count = 0
    var isRunning = false
    var isStopping = false
  }

  private let state = Mutex(State())
  /// A descriptor that becomes readable when the thread must check `state`.
  private let event: Int32
  private let eventWriter: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    _ = socketpair(AF_UNIX, Int32(type), 0, &ends)
    event = ends[0]
    eventWriter = ends[1]
  }

  deinit { for descriptor in [event, eventWriter] where descriptor >= 0 { close(descriptor) } }

  /// Keeps a closing connection open by another descriptor.
  func keep(_ socket: Int32) {
    let isTaken = state.withLock { state in
      guard event >= 0, !state.isStopping, state.count < Self.capacity else { return false }
      // Without a free descriptor, the connection is reset, as without lingering.
      let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { return false }
      if !state.isRunning { state.isRunning = StartedThread.detached { [self] in run() } }
      guard state.isRunning else {
        close(copy)
        return false
      }
      state.count += 1
      state.fresh.append(Socket(descriptor: copy, end: Self.now() + Self.milliseconds))
      return true
    }
    guard isTaken else { return }
    shutdown(socket, Int32(SHUT_WR))
    _ = write(eventWriter, "", 1)
  }

  /// Closes all sockets.
  func stop() {
    state.withLock { $0.isStopping = true }
    _ = write(eventWriter, "", 1)
    while state.withLock({ $0.isRunning }) { usleep(1000) }
  }

  private func run() {
    var sockets: [Socket] = []
    while true {
      let isStopping = state.withLock { state in
        sockets += state.fresh
        state.fresh = []
        return state.isStopping
      }
      if isStopping { break }
      var waits = [pollfd(fd: event, events: Int16(POLLIN), revents: 0)]
      waits += sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      let soonest = sockets.map(\.end).min().map { Int32(clamping: max(0, $0 - Self.now()) + 1) } ?? -1
      _ = poll(&waits, nfds_t(waits.count), soonest)
      var signals = (UInt64(0), UInt64(0))
      if waits[0].revents != 0 { _ = Glibc.read(event, &signals, MemoryLayout.size(ofValue: signals)) }
      let time = Self.now()
      var left: [Socket] = []
      for (socket, wait) in zip(sockets, waits.dropFirst()) {
        var socket = socket
        let hasEnded = wait.revents != 0 && !Self.read(&socket)
        if hasEnded || socket.end <= time {
          close(socket.descriptor)
        } else {
          left.append(socket)
        }
      }
      let ended = sockets.count - left.count
      sockets = left
      if ended > 0 { state.withLock { $0.count -= ended } }
    }
    for socket in sockets { close(socket.descriptor) }
    state.withLock { state in
      for socket in state.fresh { close(socket.descriptor) }
      state.fresh = []
      state.isRunning = false
    }
  }

  /// Reads available data. Returns false if no more can arrive, or the maximum is reached.
  private static func read(_ socket: inout Socket) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { room in
      while socket.bytes < maxBytes {
        let count = recv(socket.descriptor, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
        if count > 0 {
          socket.bytes += count
        } else {
          return count < 0 && (errno == EAGAIN || errno == EINTR)
        }
      }
      return false
    }
  }

  private static func now() -> Int { Int(OpenConnections.now()) }
}
