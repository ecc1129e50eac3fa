package import ZigguratHTTPMessages

/// The entity tag of a stored tile, `"generation-tile"` in hexadecimal: the same in every protocol. It is created
/// without a string.
package struct TileETag {
  /// Two numbers of at most 16 digits, a hyphen and the quotes, NUL-terminated.
  private var storage: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
  private var count = 0

  /// - Parameter version: the version of a tile that may change under the same generation; otherwise 0.
  init(generation: UInt64, tile: Int, version: UInt64) {
    count = withUnsafeMutableBytes(of: &storage) { bytes in
      var at = 0
      func put(_ byte: UInt8) {
        bytes[at] = byte
        at += 1
      }
      func putHexadecimal(_ number: UInt64) {
        var shift = max(0, (63 - number.leadingZeroBitCount) / 4 * 4)
        while shift >= 0 {
          let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
          put(digit < 10 ? 0x30 + digit : 0x57 + digit)
          shift -= 4
        }
      }
      put(0x22)
      putHexadecimal(generation ^ version)
      put(0x2d)
      putHexadecimal(UInt64(tile))
      put(0x22)
      return at
    }
  }

  /// Evaluates the conditions of a request for the tile.
  /// - Parameter length: the tile's length in bytes; `nil` if it is not known yet.
  package func outcome(_ conditions: Conditions, length: Int?) -> Conditions.Outcome {
    withText { conditions.outcome(tag: $0, length: length) }
  }

  /// Calls `use` with the text and its quotes; a NUL follows it.
  func withText<Result>(_ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    withUnsafeBytes(of: storage) { bytes in
      use(UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[..<count]))
    }
  }
}

extension EntityTag {
  /// Creates the entity tag of a stored tile.
  init(_ tile: TileETag) { self.init(text: tile.withText { String(decoding: $0, as: UTF8.self) }) }
}
