import ZigguratCXXHash

/// Digests that tell one version from another, XXH3 of 64 bits; they protect from accidents, not from forgery.
package enum Digest {
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    XXH3_64bits(bytes.baseAddress, bytes.count)
  }

  /// The digest of what `hash` is of and a word more.
  package static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    withUnsafeBytes(of: word.littleEndian) { XXH3_64bits_withSeed($0.baseAddress, $0.count, hash) }
  }
}
