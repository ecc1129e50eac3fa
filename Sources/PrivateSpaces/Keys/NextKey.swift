import ZigguratCSodium

/// The key that a space is to have once everything of it is sealed anew.
struct NextKey {
  let key: LockedBytes
  let keys: SpaceKeys

  private static let domain = Array("zignext1".utf8)

  static func random() -> NextKey { NextKey(.random(KeyDerivation.keyCount)) }

  private init(_ key: LockedBytes) { (self.key, keys) = (key, SpaceKeys(spaceKey: key)) }

  /// Hexadecimal digits of a nonce and the key sealed under the password's, which is not the space's own: who has
  /// come by the old key reads this and cannot open it.
  func sealed(under passwordKey: LockedBytes) -> String {
    SpaceKeys.hex(XChaCha.seal(key.bytes, key: passwordKey.base, authenticating: Self.domain))
  }

  /// Opens a sealed key; nil if `sealed(under:)` did not write it under that password.
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
