import Glibc
import ZigguratCSodium

/// libsodium, made ready at the first use of anything below.
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

  /// 0..<bound, each as likely as any other.
  static func random(below bound: Int) -> Int {
    require()
    return Int(randombytes_uniform(UInt32(bound)))
  }

  /// BLAKE2b of 32 bytes, without a key: tells damage, not forgery.
  static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    require()
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0)
    return digest
  }
}

/// Keeps the process's memory out of core dumps and other processes of the same user out of it.
///
/// Never undone: what was decrypted lies about in freed memory after a space is locked.
enum CoreDumps {
  static func forbid() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    // The limit alone is not heeded where the kernel hands dumps to a program.
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, forbid_core_dumps() == 0 else {
      preconditionFailure("core dumps cannot be turned off")
    }
  }
}
