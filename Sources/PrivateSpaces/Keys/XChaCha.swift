import ZigguratCCrypto
import ZigguratCSodium

/// XChaCha20-Poly1305. Opens what libsodium sealed twice as fast: OpenSSL has ChaCha20-Poly1305 for newer
/// processors. The X is HChaCha20 in front of it (draft-irtf-cfrg-xchacha-03, section 2.3).
enum XChaCha {
  /// Fetched once; nil where OpenSSL has none, as where it keeps to FIPS 140.
  // Written once and counted by references of its own: safe to share.
  nonisolated(unsafe) private static let cipher = EVP_CIPHER_fetch(nil, "ChaCha20-Poly1305", nil)

  static let nonceCount = 24
  static let tagCount = 16
  /// Bytes that `seal` adds.
  static let overhead = nonceCount + tagCount

  /// Returns a random nonce and the sealed bytes behind it.
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

  /// Returns the plain bytes of what `seal` made; nil if the tag does not fit.
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

  /// Writes the plain bytes; false, and zeros written, where the tag does not fit.
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
    // Wipes what it held.
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
    // Unlike libsodium, OpenSSL has written before it knows.
    if !isOpen { sodium_memzero(output, plain.count) }
    return isOpen
  }
}
