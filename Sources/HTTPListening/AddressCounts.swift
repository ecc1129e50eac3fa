import Glibc
import Synchronization

/// How many connections come from each address.
final class AddressCounts: Sendable {
  /// An IPv4 or IPv6 address without its port; all others count as one.
  private struct Address: Hashable {
    var high: UInt64 = 0
    var low: UInt64 = 0

    init(_ address: UnsafePointer<sockaddr>) {
      let pointer = UnsafeRawPointer(address)
      switch Int32(address.pointee.sa_family) {
      case AF_INET: low = UInt64(pointer.load(as: sockaddr_in.self).sin_addr.s_addr)
      case AF_INET6:
        withUnsafeBytes(of: pointer.load(as: sockaddr_in6.self).sin6_addr) { bytes in
          // An in6_addr is aligned to four bytes only.
          high = bytes.loadUnaligned(as: UInt64.self)
          low = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
      default: break
      }
    }
  }

  private let limit: Int
  private let counts = Mutex<[Address: Int]>([:])

  init(limit: Int) { self.limit = limit }

  /// Counts one more; false where the address has as many as it may.
  func add(_ address: UnsafePointer<sockaddr>) -> Bool {
    let address = Address(address)
    return counts.withLock { counts in
      let count = counts[address, default: 0]
      if count < limit { counts[address] = count + 1 }
      return count < limit
    }
  }

  func remove(_ address: UnsafePointer<sockaddr>) {
    let address = Address(address)
    counts.withLock { counts in
      let count = counts[address, default: 0]
      counts[address] = count > 1 ? count - 1 : nil
    }
  }
}
