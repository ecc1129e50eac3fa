import Glibc

/// A socket that already listened when the program was started, as systemd hands one over (sd_listen_fds(3)). Whoever
/// opened it goes on having it when the program ends, and visitors who come meanwhile wait there.
package struct InheritedSocket: Sendable {
  package enum Place: Equatable, Sendable {
    /// An address in numbers.
    case address(host: String, port: Int)
    /// In the file system; empty where the socket has no name there.
    case path(String)
  }

  let descriptor: Int32
  package let place: Place

  /// All that were handed to this very process; none where the environment tells of another's.
  ///
  /// To be asked while there is one thread, before anything is opened.
  /// - Parameter environment: of the process.
  package static func all(
    _ environment: [String: String]
  ) throws(HTTPServer.StartError) -> [InheritedSocket] {
    guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == String(getpid()) else {
      return []
    }
    // What is started from here is not meant.
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
