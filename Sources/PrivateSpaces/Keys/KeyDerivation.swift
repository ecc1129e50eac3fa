import ZigguratCSodium

/// The password hash that keys are derived from: Argon2id version 1.3 (RFC 9106) with its salt and costs.
struct KeyDerivation: Hashable, Sendable {
  let passes: UInt64
  /// The size of the memory in bytes.
  let memory: UInt64
  let salt: [UInt8]

  static let saltCount = 16
  static let keyCount = 32
  /// The range is from libsodium's "moderate" (256 MB, three passes) to four times its work. No file can make a process
  /// use more memory or time, or protect a new space less.
  static let passesRange: ClosedRange<UInt64> = 3...12
  static let memoryRange: ClosedRange<UInt64> = (256 << 20)...(1 << 30)

  init() {
    Sodium.require()
    passes = UInt64(crypto_pwhash_opslimit_moderate())
    memory = UInt64(crypto_pwhash_memlimit_moderate())
    salt = Sodium.random(Self.saltCount)
  }

  /// Creates a derivation; nil if its costs are out of range.
  init?(passes: UInt64, memory: UInt64, salt: [UInt8]) {
    guard Self.passesRange.contains(passes), Self.memoryRange.contains(memory), salt.count == Self.saltCount
    else { return nil }
    self.passes = passes
    self.memory = memory
    self.salt = salt
  }

  /// Derives a key. Takes about half a second and `memory`; nil if that memory is not available.
  func key(_ password: Password) -> LockedBytes? {
    struct NoMemory: Error {}
    let secret = password.secret.bytes
    return try? LockedBytes(capacity: Self.keyCount) { (room) throws(NoMemory) in
      let code = secret.withMemoryRebound(to: CChar.self) { secret in
        crypto_pwhash(
          room.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(Self.keyCount), secret.baseAddress!,
          UInt64(secret.count), salt, passes, Int(memory), crypto_pwhash_alg_argon2id13())
      }
      guard code == 0 else { throw NoMemory() }
      return Self.keyCount
    }
  }
}
