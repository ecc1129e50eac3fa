import Glibc
import ZigguratFiles

/// The address of this machine in its network.
enum LocalAddress {
  /// - Parameter host: the host on which the server listens.
  /// - Returns: a numeric address, in brackets for IPv6; nil if no other machine can reach the server.
  static func find(host: String) -> String? {
    guard host == "0.0.0.0" || host == "::" else {
      if host == "localhost" || host.hasPrefix("127.") || host == "::1" { return nil }
      return host.contains(":") ? "[\(host)]" : host
    }
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var found: [String] = []
    var next = list
    while let entry = next {
      next = entry.pointee.ifa_next
      let flags = Int32(bitPattern: entry.pointee.ifa_flags)
      guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
        flags & Int32(IFF_UP) != 0, flags & Int32(IFF_LOOPBACK) == 0
      else { continue }
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      guard getnameinfo(address, size, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
        continue
      }
      found.append(name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }
    // The usual networks of homes and offices precede those of containers and tunnels.
    return found.first { $0.hasPrefix("192.168.") } ?? found.first { $0.hasPrefix("10.") } ?? found.first
  }
}
