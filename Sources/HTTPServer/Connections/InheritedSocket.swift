import Glibc

/// A listening socket that systemd passes to the program at its start (socket activation, sd_listen_fds(3)). The manager keeps
/// it open when the program ends; clients that connect meanwhile wait.
package struct InheritedSocket: Sendable {
  package enum Place: Equatable, Sendable {
    /// A numeric address and a port.
    case address(host: String, port: Int)
    /// A path in the file system; empty if the socket has none.
    case path(String)
  }

  let descriptor: Int32
  package let place: Place

  /// Returns the sockets passed to this process; none if the environment variables are for another process.
  ///
  /// Must be called while the process has one thread, before it opens anything.
  ///
  /// - Parameter environment: the environment of the process.
  package static func all(
    _ environment: [String: String]
  ) throws(HTTPServer.StartError) -> [InheritedSocket] {
    guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == String(getpid()) else {
      return []
    }
    // The variables are not for child processes.
    for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] { unsetenv(name) }
    guard let count = Int32(text), (0...64).contains(count) else {
      throw refusal("LISTEN_FDS is '\(text.prefix(40))'; it takes a number up to 64")
    }
    var sockets: [InheritedSocket] = []
    for descriptor in 3..<3 + count { sockets.append(try InheritedSocket(descriptor)) }
    return sockets
  }

  private init(_ descriptor: Int32) throws(HTTPServer.StartError) {
    func option(_ name: Int32) -> Int32? {
      var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, let type = option(SO_TYPE) else {
      throw Self.refusal("descriptor \(descriptor) is not an open socket")
    }
    guard type == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN) == 1,
      let place = ListeningSocket.place(descriptor)
    else {
      throw Self.refusal(
        "descriptor \(descriptor) is not a listening stream of TCP or the file system (ListenStream=, Accept=no)"
      )
    }
    self.descriptor = descriptor
    self.place = place
  }

  private static func refusal(_ reason: String) -> HTTPServer.StartError {
    HTTPServer.StartError(description: "cannot take the sockets that were handed over: \(reason)")
  }
}
