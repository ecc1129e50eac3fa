import Glibc
import ZigguratCSodium

/// libsodium, which is initialized at the first use of any function below.
enum Sodium {
  private static let isReady: Bool = sodium_init() >= 0

  static func require() { precondition(isReady, "libsodium finds no source of random numbers") }

  static func fillRandom(_ bytes: UnsafeMutableRawBufferPointer) {
    require()
    randombytes_buf(bytes.baseAddress!, bytes.count)
  }

  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { fillRandom($0) }
    return bytes
  }

  /// Returns a number in 0..<bound. All are equally likely.
  static func random(below bound: Int) -> Int {
    require()
    return Int(randombytes_uniform(UInt32(bound)))
  }

  /// Returns a BLAKE2b digest of 32 bytes, without a key. It detects damage, not forgery.
  static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    require()
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0)
    return digest
  }
}

/// Protection of the process's memory from core dumps, and from other processes of the same user.
///
/// It is never undone, because freed memory may contain decrypted data after a space is locked.
enum CoreDumps {
  static func forbid() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    // The kernel ignores this limit if it passes dumps to a program.
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, forbid_core_dumps() == 0 else {
      preconditionFailure("core dumps cannot be turned off")
    }
  }
}
