import ZigguratCSodium

/// The value of `Surrogate-Key` of all responses about one image. A shared cache purges them by it.
///
/// It is SipHash-2-4 of the id's UTF-8, in 16 hexadecimal digits. The hash has a secret key, so that only the
/// servers can compute or confirm the value for a hidden image.
package struct SurrogateKey: Sendable {
  /// The secret key of the hash, 128 bits.
  package struct Seed: Sendable {
    let words: (UInt64, UInt64)
  }

  private let hash: UInt64

  /// - Parameter id: the id of the image, decoded.
  package init(of id: UnsafeRawBufferPointer, _ seed: Seed) {
    var hash: UInt64 = 0
    withUnsafeMutableBytes(of: &hash) { hash in
      withUnsafeBytes(of: seed.words) { seed in
        // An empty id, whose address may be `nil`, is not read. Input and output are bytes.
        _ = crypto_shorthash(
          hash.baseAddress!.assumingMemoryBound(to: UInt8.self),
          id.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(id.count),
          seed.baseAddress!.assumingMemoryBound(to: UInt8.self))
      }
    }
    self.hash = UInt64(bigEndian: hash)
  }

  package init(of id: String, _ seed: Seed) {
    var id = id
    self = id.withUTF8 { Self(of: UnsafeRawBufferPointer($0), seed) }
  }

  /// Calls `use` with the NUL-terminated value, without creating a string.
  package func withText<Result>(_ use: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 17) { text in
      for place in 0..<16 {
        let digit = CChar(hash >> UInt64(60 - 4 * place) & 15)
        text.initializeElement(at: place, to: digit < 10 ? 0x30 + digit : 0x57 + digit)
      }
      text.initializeElement(at: 16, to: 0)
      return use(UnsafePointer(text.baseAddress.unsafelyUnwrapped))
    }
  }

  package var text: String { withText { String(cString: $0) } }
}
