import ZigguratCSodium

/// The secret that all servers of a library share with the caches in front of them.
///
/// It authorizes the servers' purge requests and is the source of the seed of surrogate keys.
package struct PurgeKey: Sendable {
  /// 64 lowercase hexadecimal digits: the value of the header `Ziggurat-Edge-Key`.
  package let text: String
  package let seed: SurrogateKey.Seed

  /// Parses 256 bits from 64 lowercase hexadecimal digits, as `openssl rand -hex 32` prints them. Returns `nil` for
  /// any other text, because a shorter key could be guessed.
  package init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 64, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    var key = [UInt8](repeating: 0, count: Int(crypto_kdf_KEYBYTES))
    guard sodium_hex2bin(&key, key.count, text, digits.count, nil, nil, nil) == 0 else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &words) { room in
      _ = crypto_kdf_derive_from_key(
        room.baseAddress!.assumingMemoryBound(to: UInt8.self), room.count, 1, "edge-key", key)
    }
    self.text = text
    seed = SurrogateKey.Seed(words: words)
  }

  /// Creates a key from the random numbers of the system.
  package static func make() -> PurgeKey {
    precondition(sodium_init() >= 0, "libsodium finds no source of random numbers")
    var bytes = [UInt8](repeating: 0, count: 32)
    randombytes_buf(&bytes, bytes.count)
    var text = [CChar](repeating: 0, count: 2 * bytes.count + 1)
    sodium_bin2hex(&text, text.count, bytes, bytes.count)
    return PurgeKey(String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))!
  }
}
