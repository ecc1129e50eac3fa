import ZigguratFiles

/// An entry of a directory of a TIFF file, or of EXIF (TIFF 6.0, section 2).
struct TIFFEntry {
  let tag, type, count: Int
  /// The bytes of its value, or of the value's place.
  let inline: ArraySlice<UInt8>

  /// Bytes of a value, by its type.
  static let sizes = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
    // UTF-8 (EXIF 3.0).
    129: 1,
  ]

  /// Bytes of an entry.
  static func byteCount(isBig: Bool) -> Int { isBig ? 20 : 12 }

  /// Returns the entries that a directory consists of.
  ///
  /// - Parameter isBig: whether the file is a BigTIFF.
  static func all(in bytes: [UInt8], _ order: ByteOrder, isBig: Bool) -> [TIFFEntry] {
    let (size, inline) = (byteCount(isBig: isBig), isBig ? 12 : 8)
    return stride(from: 0, through: bytes.count - size, by: size).map { start in
      TIFFEntry(
        tag: order.number(bytes, at: start, 2), type: order.number(bytes, at: start + 2, 2),
        count: order.number(bytes, at: start + 4, inline - 4), inline: bytes[start + inline..<start + size])
    }
  }

  /// Returns the order that the first bytes of a TIFF file state; `nil` if they are not a TIFF's.
  static func order(_ start: [UInt8]) -> ByteOrder? {
    guard start.count >= 8, start[0] == start[1] else { return nil }
    return start[0] == 0x49 ? .little : start[0] == 0x4d ? .big : nil
  }
}
