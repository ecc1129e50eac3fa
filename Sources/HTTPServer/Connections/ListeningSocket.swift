import Glibc
import ZigguratHTTPMessages
import ZigguratTileServing

/// Sockets that accept connections.
enum ListeningSocket {
  /// The options that set an address, named in messages about it.
  struct Options {
    let host: String
    let port: String

    static let everybody = Options(host: "--host", port: "--port")
    static let monitors = Options(host: "--metrics-listen", port: "--metrics-listen")
  }

  /// Opens one socket for every address of the hosts, all on one port.
  ///
  /// - Parameters:
  ///   - port: the port; 0 picks one that is free at all addresses.
  ///   - options: the options that set hosts and port.
  static func open(
    _ hosts: [String], _ port: Int, _ options: Options
  ) throws(HTTPServer.StartError) -> (sockets: [Int32], port: Int) {
    var tries = port == 0 ? 20 : 1
    while true {
      tries -= 1
      var (sockets, chosen): ([Int32], Int) = ([], port)
      do throws(HTTPServer.StartError) {
        for host in hosts { try open(host, &chosen, &sockets, options) }
        return (sockets, chosen)
      } catch {
        for socket in sockets { close(socket) }
        // A port that is free at the first address may be in use at another.
        if tries == 0 || error.code != EADDRINUSE { throw error }
      }
    }
  }

  /// - Parameter chosen: the port; 0 until one is picked.
  private static func open(
    _ host: String, _ chosen: inout Int, _ sockets: inout [Int32], _ options: Options
  ) throws(HTTPServer.StartError) {
    let port = chosen
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &found)
    guard code == 0 else {
      throw HTTPServer.StartError(
        description: "cannot listen on \(host): \(String(cString: gai_strerror(code)).lowercased()); "
          + "choose another address with \(options.host)")
    }
    defer { freeaddrinfo(found) }
    let before = sockets.count
    var failure = Int32(0)
    var next = found
    while let address = next {
      next = address.pointee.ai_next
      guard let socket = bind(address.pointee, port: chosen) else {
        failure = errno
        // A machine without IPv6 still has names with IPv6 addresses, which are skipped. A port in use is an error.
        if failure == EADDRINUSE { break }
        continue
      }
      sockets.append(socket)
      chosen = localPort(socket)
    }
    if failure == EADDRINUSE || sockets.count == before {
      throw HTTPServer.StartError(
        cannot: "listen on \(host):\(port)", errno: failure, advice: hint(failure, port: port, options))
    }
  }

  /// Returns advice about an address that the system refuses; empty if there is none.
  private static func hint(_ code: Int32, port: Int, _ options: Options) -> String {
    switch code {
    case EADDRINUSE: "; choose another port with \(options.port)"
    case EADDRNOTAVAIL: "; choose an address of this machine with \(options.host)"
    case EACCES where port < 1024:
      "; only root can use ports below 1024: choose another with \(options.port), and put a proxy in front"
    default: ""
    }
  }

  /// Binds a socket and listens; nil with `errno` if the system refuses.
  private static func bind(_ address: addrinfo, port: Int) -> Int32? {
    let socket = Glibc.socket(
      address.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    // Otherwise `::` would also use the port of IPv4.
    if address.ai_family == AF_INET6 {
      setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    // The port has the same offset in sockaddr_in and sockaddr_in6.
    UnsafeMutableRawPointer(address.ai_addr).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port =
      UInt16(port).bigEndian
    guard Glibc.bind(socket, address.ai_addr, address.ai_addrlen) == 0, listen(socket, 1024) == 0 else {
      let code = errno
      close(socket)
      errno = code
      return nil
    }
    return socket
  }

  /// Opens a Unix socket. A stale socket file is removed. The permissions of its folder restrict
  /// access, as for a local port.
  static func open(path: String) throws(HTTPServer.StartError) -> Int32 {
    func failure(_ code: Int32) -> HTTPServer.StartError {
      HTTPServer.StartError(
        cannot: "listen on unix:\(path)", errno: code,
        advice: code == EADDRINUSE ? "; choose another socket with --listen" : "")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { throw failure(ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    func with(_ socket: Int32, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          call(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    var status = stat()
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK {
      let probe = Glibc.socket(AF_UNIX, type, 0)
      defer { close(probe) }
      if with(probe, Glibc.connect) == 0 { throw failure(EADDRINUSE) }
      unlink(path)
    }
    let socket = Glibc.socket(AF_UNIX, type, 0)
    guard socket >= 0 else { throw failure(errno) }
    guard with(socket, Glibc.bind) == 0, chmod(path, 0o666) == 0, listen(socket, 1024) == 0 else {
      let code = errno
      close(socket)
      throw failure(code)
    }
    return socket
  }

  /// Returns the local port; 0 if the socket has none.
  static func localPort(_ socket: Int32) -> Int {
    withName(of: socket) { address, _ in
      guard [AF_INET, AF_INET6].contains(Int32(address.pointee.sa_family)) else { return 0 }
      return Int(UInt16(bigEndian: UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port))
    }
  }

  /// Returns the listening address; nil if the socket is neither TCP nor a Unix socket.
  static func place(_ socket: Int32) -> InheritedSocket.Place? {
    withName(of: socket) { address, length in
      switch Int32(address.pointee.sa_family) {
      case AF_UNIX:
        return UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_un.self, capacity: 1) { address in
          let count = Int(length) - MemoryLayout<sockaddr_un>.offset(of: \.sun_path)!
          return withUnsafeBytes(of: address.pointee.sun_path) { path in
            .path(String(decoding: path.prefix(max(0, count)).prefix { $0 != 0 }, as: UTF8.self))
          }
        }
      case AF_INET, AF_INET6:
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
          return nil
        }
        let host = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        return .address(host: host, port: localPort(socket))
      default: return nil
      }
    }
  }

  /// Returns the local address of a connection; nil if it has none.
  static func localAddress(_ socket: Int32) -> IPAddress? {
    withName(of: socket) { address, _ in IPAddress(address) }
  }

  /// Returns the local address and port of a connection in the form of a URL; nil if it has none.
  static func authority(_ socket: Int32) -> String? {
    guard case .address(let host, let port)? = place(socket) else { return nil }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  private static func withName<Result>(
    of socket: Int32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = getsockname(socket, address, &length)
        return body(address, length)
      }
    }
  }
}
