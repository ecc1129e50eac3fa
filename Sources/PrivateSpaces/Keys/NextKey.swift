import ZigguratCSodium

/// The key of a space after everything in it is encrypted again.
struct NextKey {
  let key: LockedBytes
  let keys: SpaceKeys

  private static let domain = Array("zignext1".utf8)

  static func random() -> NextKey { NextKey(.random(KeyDerivation.keyCount)) }

  private init(_ key: LockedBytes) { (self.key, keys) = (key, SpaceKeys(spaceKey: key)) }

  /// Returns a nonce and the key, encrypted with the password's key, in hexadecimal. An attacker with the old key of
  /// the space can read this text, but cannot decrypt it.
  func sealed(under passwordKey: LockedBytes) -> String {
    SpaceKeys.hex(XChaCha.seal(key.bytes, key: passwordKey.base, authenticating: Self.domain))
  }

  /// Decrypts a key; nil if `sealed(under:)` did not write it under that password.
  init?(sealed text: String, under passwordKey: LockedBytes) {
    guard let bytes = SpaceKeys.bytes(text), bytes.count == KeyDerivation.keyCount + XChaCha.overhead else {
      return nil
    }
    struct Wrong: Error {}
    let key = try? LockedBytes(capacity: KeyDerivation.keyCount) { (room) throws(Wrong) in
      let code = bytes.withUnsafeBufferPointer { bytes in
        crypto_aead_xchacha20poly1305_ietf_decrypt(
          room.baseAddress!.assumingMemoryBound(to: UInt8.self), nil, nil,
          bytes.baseAddress! + XChaCha.nonceCount, UInt64(bytes.count - XChaCha.nonceCount), Self.domain,
          UInt64(Self.domain.count), bytes.baseAddress!, passwordKey.base)
      }
      guard code == 0 else { throw Wrong() }
      return KeyDerivation.keyCount
    }
    guard let key else { return nil }
    self.init(key)
  }
}
