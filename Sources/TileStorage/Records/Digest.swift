/// Digests that tell one version from another; they protect from accidents, not from forgery.
package enum Digest {
  /// One step of FNV-1a, 64 bits: the digest of what `hash` is of and a word more.
  package static func step(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    (hash ^ word) &* 0x0000_0100_0000_01b3
  }

  /// FNV-1a, 64 bits, over eight bytes at a step: the directory of a gigapixel archive has megabytes.
  static func fnv1a(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
    var at = 0
    while at + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      hash = step(hash, word)
      hash ^= hash >> 29  // carries the high bits of a word down into the next product
      at += 8
    }
    while at < bytes.count {
      hash = step(hash, UInt64(bytes[at]))
      at += 1
    }
    return hash ^ hash >> 32
  }
}
