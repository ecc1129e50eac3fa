import ZigguratCCrypto
import ZigguratCSodium

/// XChaCha20-Poly1305. It decrypts twice as fast as libsodium, because OpenSSL's ChaCha20-Poly1305 uses newer
/// processors better. HChaCha20 is computed first (draft-irtf-cfrg-xchacha-03, section 2.3).
enum XChaCha {
  /// The cipher, fetched once; nil if OpenSSL does not have it, as in FIPS 140 mode.
  // Written once, and with its own reference count, so it is safe to share.
  nonisolated(unsafe) private static let cipher = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)

  static let nonceCount = 24
  static let tagCount = 16
  /// The number of bytes that `seal` adds.
  static let overhead = nonceCount + tagCount

  /// Returns a random nonce, followed by the encrypted bytes.
  /// - Parameter key: 32 bytes.
  static func seal(
    _ plain: UnsafeRawBufferPointer, key: UnsafePointer<UInt8>, authenticating place: [UInt8]
  ) -> [UInt8] {
    var sealed = Sodium.random(nonceCount) + [UInt8](repeating: 0, count: plain.count + tagCount)
    sealed.withUnsafeMutableBufferPointer { sealed in
      _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
        sealed.baseAddress! + nonceCount, nil, plain.baseAddress?.assumingMemoryBound(to: UInt8.self),
        UInt64(plain.count), place, UInt64(place.count), nil, sealed.baseAddress!, key)
    }
    return sealed
  }

  /// Returns the plain bytes; nil if the tag does not match.
  static func open(
    _ sealed: [UInt8], key: UnsafePointer<UInt8>, authenticating place: [UInt8]
  ) -> [UInt8]? {
    guard sealed.count >= overhead else { return nil }
    var plain = [UInt8](repeating: 0, count: sealed.count - overhead)
    let isOpen = sealed.withUnsafeBytes { sealed in
      plain.withUnsafeMutableBytes { plain in
        place.withUnsafeBytes { place in
          open(
            UnsafeRawBufferPointer(rebasing: sealed[nonceCount...]), into: plain,
            nonce: sealed.baseAddress!.assumingMemoryBound(to: UInt8.self), key: key, authenticating: place)
        }
      }
    }
    return isOpen ? plain : nil
  }

  /// Writes the plain bytes. Returns false and writes zeros if the tag does not match.
  ///
  /// - Parameters:
  ///   - plain: `sealed.count - tagCount` bytes.
  ///   - nonce: 24 bytes.
  ///   - key: 32 bytes.
  static func open(
    _ sealed: UnsafeRawBufferPointer, into plain: UnsafeMutableRawBufferPointer,
    nonce: UnsafePointer<UInt8>, key: UnsafePointer<UInt8>, authenticating place: UnsafeRawBufferPointer
  ) -> Bool {
    precondition(sealed.count == plain.count + tagCount, "the tag takes \(tagCount) bytes")
    let input = sealed.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let output = plain.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let associated = place.baseAddress!.assumingMemoryBound(to: UInt8.self)
    guard let cipher, plain.count > 0, plain.count <= Int32.max, let context = EVP_CIPHER_CTX_new() else {
      return crypto_aead_xchacha20poly1305_ietf_decrypt(
        output, nil, nil, input, UInt64(sealed.count), associated, UInt64(place.count), nonce, key) == 0
    }
    // This also wipes its content.
    defer { EVP_CIPHER_CTX_free(context) }
    var subkey: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var inner: (UInt32, UInt32, UInt32) = (0, 0, 0)
    let isOpen = withUnsafeMutableBytes(of: &subkey) { subkey in
      let subkey = subkey.baseAddress!.assumingMemoryBound(to: UInt8.self)
      crypto_core_hchacha20(subkey, nonce, key, nil)
      return withUnsafeMutableBytes(of: &inner) { inner in
        let inner = inner.baseAddress!.assumingMemoryBound(to: UInt8.self)
        (inner + 4).update(from: nonce + 16, count: 8)
        var (count, rest): (Int32, Int32) = (0, 0)
        return EVP_DecryptInit_ex2(context, cipher, subkey, inner, nil) == 1
          && EVP_DecryptUpdate(context, nil, &count, associated, Int32(place.count)) == 1
          && EVP_DecryptUpdate(context, output, &count, input, Int32(plain.count)) == 1
          && EVP_CIPHER_CTX_ctrl(
            context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount),
            UnsafeMutablePointer(mutating: input + plain.count)) == 1
          && EVP_DecryptFinal_ex(context, output! + Int(count), &rest) == 1
      }
    }
    sodium_memzero(&subkey, MemoryLayout.size(ofValue: subkey))
    // Unlike libsodium, OpenSSL writes before it verifies.
    if !isOpen { sodium_memzero(output, plain.count) }
    return isOpen
  }
}
