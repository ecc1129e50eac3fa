import ZigguratCXXHash

/// 64-bit XXH3 digests that distinguish versions. They protect from accidents, not from forgery.
package enum Digest {
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    XXH3_64bits(bytes.baseAddress, bytes.count)
  }

  /// Returns the digest of a sequence whose digest is `hash`, extended by a word.
  package static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    withUnsafeBytes(of: word.littleEndian) { XXH3_64bits_withSeed($0.baseAddress, $0.count, hash) }
  }
}
