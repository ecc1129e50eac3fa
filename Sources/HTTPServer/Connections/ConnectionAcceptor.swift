import Glibc
import Synchronization
import ZigguratConcurrency
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileServing

/// Takes connections and gives each to the event loop of the processor that its packets come in on, or to the
/// one that has the fewest where that has many more.
///
/// Were the loops themselves to wait for connections, the first to wake would take what is there: of 64 that
/// come at once one loop often got 50 and more.
final class ConnectionAcceptor: Sendable {
  private struct State {
    var loops: [EventLoop] = []
    var hasEnded = false
  }

  private let server: ServerContext
  private let sockets: [Int32]
  private let shared: [Int32]
  /// Is readable once there is to be no more waiting for connections.
  private let end: Int32
  private let endWriter: Int32
  private let threads: Int
  private let state = Mutex(State())
  private let isStopping = Atomic<Bool>(false)

  /// - Parameters:
  ///   - sockets: that listen.
  ///   - shared: the same, which others go on with.
  ///   - threads: event loops that share the connections until they are full.
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

  /// - Returns: false where the system gives no threads.
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

  /// Takes no more connections.
  func stop() {
    isStopping.store(true, ordering: .relaxed)
    // Nobody connects to a server that is going; of what others share not even the waiting ones are turned away.
    for socket in sockets { shutdown(socket, Int32(SHUT_RD)) }
    _ = write(endWriter, "", 1)
    while !state.withLock({ $0.hasEnded }) { usleep(1000) }
  }

  /// Ends all connections; after `stop`.
  func stopLoops() { for loop in state.withLock({ $0.loops }) { loop.stop() } }

  private func run() {
    var waits = (sockets + shared + [end]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while !isStopping.load(ordering: .relaxed) {
      guard poll(&waits, nfds_t(waits.count), -1) > 0 else { continue }
      for wait in waits where wait.revents != 0 && wait.fd != end {
        // For each again, or a loop could get one more than it can hold. More wait until others end.
        if let loop = roomiest() { take(wait.fd, loop) } else { usleep(1000) }
      }
    }
  }

  /// The loop that is to have the next connection; nil where there are as many connections as may be.
  private func roomiest() -> EventLoop? {
    state.withLock { state in
      let counts = state.loops.map(\.connections)
      if counts.reduce(0, +) >= server.limits.connections { return nil }
      // The first ones share the work; the others are for what these cannot hold.
      let least = counts[..<threads].indices.min { counts[$0] < counts[$1] }!
      if counts[least] < EventLoop.capacity { return state.loops[least] }
      if let other = counts.firstIndex(where: { $0 < EventLoop.capacity }) { return state.loops[other] }
      guard let loop = EventLoop(server) else { return nil }
      state.loops.append(loop)
      return loop
    }
  }

  /// The loop for the processor that a connection's packets come in on: what they share stays in its cache.
  private func near(_ connection: Int32) -> EventLoop? {
    var processor: Int32 = -1
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(connection, SOL_SOCKET, SO_INCOMING_CPU, &processor, &size) == 0, processor >= 0 else {
      return nil
    }
    return state.withLock { $0.loops[Int(processor) % threads] }
  }

  /// The next connection that waits at a socket.
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
          // Without a descriptor the next try would fail at once, again and again.
          if errno != EAGAIN, errno != ECONNABORTED, errno != EINTR { usleep(10_000) }
          return
        }
        let peer = IPAddress(address)
        guard server.admits(connectionOf: peer) else {
          close(connection)
          return
        }
        let near = self.near(connection) ?? loop
        // As long as the others have nearly as many.
        let chosen = near.connections < min(2 * loop.connections + 8, EventLoop.capacity) ? near : loop
        if !chosen.add(connection, address, length) { server.connectionEnded(of: peer) }
      }
    }
  }
}
