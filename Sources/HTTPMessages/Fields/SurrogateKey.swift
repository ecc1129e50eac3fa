import CXXHash

/// The key of all answers about one image, the value of `Surrogate-Key`, by which a shared cache can forget them together.
///
/// The XXH3-64 of the id's UTF-8 in 16 hexadecimal digits: ids may be long, and hold what no header does.
package struct SurrogateKey: Sendable {
  private let hash: UInt64

  /// - Parameter id: the image's, decoded.
  package init(of id: UnsafeRawBufferPointer) { hash = XXH3_64bits(id.baseAddress, id.count) }

  package init(of id: String) {
    var id = id
    self = id.withUTF8 { Self(of: UnsafeRawBufferPointer($0)) }
  }

  /// The value with a NUL behind it, made without a string.
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
