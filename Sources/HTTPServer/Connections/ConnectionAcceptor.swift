import Glibc
import Synchronization
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileServing

/// Accepts connections. A connection goes to the event loop of the processor that receives its packets. If the loop has
/// many more connections than another, the other gets it.
///
/// If the loops themselves waited for connections, the first one to wake would take all pending ones. Of 64
/// simultaneous connections, one loop often got 50 and more.
final class ConnectionAcceptor: Sendable {
  private struct State {
    var loops: [EventLoop] = []
    var hasEnded = false
  }

  private let server: ServerContext
  private let sockets: [Int32]
  private let shared: [Int32]
  /// A descriptor that becomes readable when accepting stops.
  private let end: Int32
  private let endWriter: Int32
  private let threads: Int
  private let state = Mutex(State())
  private let isStopping = Atomic<Bool>(false)

  /// - Parameters:
  ///   - sockets: listening sockets.
  ///   - shared: listening sockets that other processes continue to use.
  ///   - threads: the number of event loops that share the connections until they are full.
  init(_ server: ServerContext, _ sockets: [Int32], shared: [Int32] = [], threads: Int) {
    self.server = server
    self.sockets = sockets
    self.shared = shared
    self.threads = threads
    var ends: [Int32] = [-1, -1]
    _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
    end = ends[0]
    endWriter = ends[1]
  }

  deinit { for descriptor in [end, endWriter] where descriptor >= 0 { close(descriptor) } }

  /// - Returns: false if the system has no threads left.
  func start() -> Bool {
    for socket in sockets + shared { _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK) }
    let loops = (0..<threads).compactMap { _ in EventLoop(server) }
    state.withLock { $0.loops = loops }
    let isStarted =
      loops.count == threads && end >= 0
      && StartedThread.detached { [self] in
        run()
        state.withLock { $0.hasEnded = true }
      }
    if !isStarted { stopLoops() }
    return isStarted
  }

  /// Stops accepting connections.
  func stop() {
    isStopping.store(true, ordering: .relaxed)
    // No client connects to a server that stops. Shared sockets stay open, so that their pending connections are not
    // refused.
    for socket in sockets { shutdown(socket, Int32(SHUT_RD)) }
    _ = write(endWriter, "", 1)
    while !state.withLock({ $0.hasEnded }) { usleep(1000) }
  }

  /// Ends all connections; called after `stop`.
  func stopLoops() { for loop in state.withLock({ $0.loops }) { loop.stop() } }

  private func run() {
    var waits = (sockets + shared + [end]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while !isStopping.load(ordering: .relaxed) {
      guard poll(&waits, nfds_t(waits.count), -1) > 0 else { continue }
      for wait in waits where wait.revents != 0 && wait.fd != end {
        // Chosen again for each connection, or a loop could exceed its capacity. Further connections wait until others
        // end.
        if let loop = roomiest() { take(wait.fd, loop) } else { usleep(1000) }
      }
    }
  }

  /// Returns the loop for the next connection; nil if the maximum number of connections is reached.
  private func roomiest() -> EventLoop? {
    state.withLock { state in
      let counts = state.loops.map(\.connections)
      if counts.reduce(0, +) >= server.limits.connections { return nil }
      // The first loops share the connections; the others take those beyond their capacity.
      let least = counts[..<threads].indices.min { counts[$0] < counts[$1] }!
      if counts[least] < EventLoop.capacity { return state.loops[least] }
      if let other = counts.firstIndex(where: { $0 < EventLoop.capacity }) { return state.loops[other] }
      guard let loop = EventLoop(server) else { return nil }
      state.loops.append(loop)
      return loop
    }
  }

  /// Returns the loop of the processor that receives a connection's packets, which shares its cache.
  private func near(_ connection: Int32) -> EventLoop? {
    var processor: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(connection, SOL_SOCKET, SO_INCOMING_CPU, &processor, &size) == 0, processor >= 0 else {
      return nil
    }
    return state.withLock { $0.loops[Int(processor) % threads] }
  }

  /// Accepts the next pending connection of a socket.
  private func take(_ socket: Int32, _ loop: EventLoop) {
    var address = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &address) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let connection = accept(socket, address, &length)
        guard connection >= 0 else {
          let code = errno
          if DescriptorRelief.isShortage(code) { DescriptorRelief.shared.relieve() }
          errno = code
          // Without a free descriptor, the next try would fail at once.
          if errno != EAGAIN, errno != ECONNABORTED, errno != EINTR { usleep(10_000) }
          return
        }
        let peer = IPAddress(address)
        guard server.admits(connectionOf: peer) else {
          close(connection)
          return
        }
        let near = self.near(connection) ?? loop
        // If the loop has not many more connections than the others.
        let chosen = near.connections < min(2 * loop.connections + 8, EventLoop.capacity) ? near : loop
        if !chosen.add(connection, address, length) { server.connectionEnded(of: peer) }
      }
    }
  }
}
