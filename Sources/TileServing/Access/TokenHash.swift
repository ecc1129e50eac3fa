import ZigguratCSodium

/// The digest of a secret of 256 random bits that grants a session or write access.
///
/// Only the digest is kept, and digests are compared in constant time. Reading the server's memory or timing a comparison therefore reveals nothing that
/// grants access.
struct TokenHash: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Computes BLAKE2b of the text.
  init(_ text: some Sequence<UInt8>) {
    self = Array(text).withUnsafeBufferPointer { TokenHash($0) }
  }

  init(_ text: UnsafeBufferPointer<UInt8>) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    withUnsafeMutableBytes(of: &words) { room in
      _ = crypto_generichash(
        room.baseAddress!.assumingMemoryBound(to: UInt8.self), room.count, text.baseAddress,
        UInt64(text.count), nil, 0)
    }
    self.words = words
  }

  /// Creates a new secret as text: 43 characters of base64url (RFC 4648, section 5), which are valid in cookies,
  /// headers and URLs.
  static func makeSecret() -> String {
    precondition(sodium_init() >= 0, "libsodium finds no source of random numbers")
    var bytes = [UInt8](repeating: 0, count: 32)
    randombytes_buf(&bytes, bytes.count)
    let variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING
    var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
    sodium_bin2base64(&text, text.count, bytes, bytes.count, variant)
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func == (a: TokenHash, b: TokenHash) -> Bool {
    // Constant time, wherever the digests differ.
    let (a, b) = (a.words, b.words)
    return (a.0 ^ b.0) | (a.1 ^ b.1) | (a.2 ^ b.2) | (a.3 ^ b.3) == 0
  }

  func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The token that grants write access to programs and to the library's owner.
package struct AccessToken: Sendable {
  private let digest: TokenHash

  /// Creates a token of 16 to 256 printable ASCII characters without spaces. Such a token is valid in an
  /// `Authorization` header and resists brute force. Returns `nil` for any other text.
  package init?(_ text: String) {
    guard (16...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return nil
    }
    digest = TokenHash(text.utf8)
  }

  /// Creates a token of 256 random bits, whose text is to be shown to the owner once.
  package static func make() -> (token: AccessToken, text: String) {
    let text = TokenHash.makeSecret()
    return (AccessToken(text)!, text)
  }

  func isSame(_ text: some Sequence<UInt8>) -> Bool { TokenHash(text) == digest }

  /// Whether the header's value uses the scheme `Bearer`, with a correct or wrong token.
  static func isBearer(_ authorization: String) -> Bool {
    authorization.split(separator: " ", maxSplits: 1).first?.lowercased() == "bearer"
  }

  /// - Parameter authorization: the header's value, `Bearer …` (RFC 6750, section 2.1).
  func admits(authorization: String) -> Bool {
    let parts = authorization.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" && isSame(parts[1].utf8)
  }
}
