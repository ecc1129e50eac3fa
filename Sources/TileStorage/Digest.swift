/// Digests that tell one version from another; they protect from accidents, not from forgery.
enum Digest {
  /// FNV-1a, 64 bits, over eight bytes at a step: the directory of a gigapixel archive has megabytes.
  static func fnv1a(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
    var at = 0
    while at + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      hash = (hash ^ word) &* 0x0000_0100_0000_01b3
      hash ^= hash >> 29  // carries the high bits of a word down into the next product
      at += 8
    }
    while at < bytes.count {
      hash = (hash ^ UInt64(bytes[at])) &* 0x0000_0100_0000_01b3
      at += 1
    }
    return hash ^ hash >> 32
  }
}
