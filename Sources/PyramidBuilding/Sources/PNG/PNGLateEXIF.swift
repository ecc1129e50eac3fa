import ZigguratFiles

/// EXIF behind the pixels of a PNG file, where the eXIf chunk may stand too (PNG, third edition, 5.6).
enum PNGLateEXIF {
  /// Bytes of the chunk that are read.
  private static let maxLength = 1 << 16

  /// Returns the orientation, 1…8; nil if no EXIF behind the pixels has one.
  static func orientation(of file: PNGFile) -> Int? {
    withExtendedLifetime(file) {
      let reader = file.chunks.placedReader
      guard let place = PNGTail(reader).exif else { return nil }
      return reader.bytes(place.lowerBound, min(place.count, maxLength)).flatMap(orientation)
    }
  }

  /// The orientation (tag 274) of the first directory of EXIF.
  private static func orientation(ofEXIF bytes: [UInt8]) -> Int? {
    guard bytes.count >= 8,
      bytes.starts(with: [0x49, 0x49, 42, 0]) || bytes.starts(with: [0x4d, 0x4d, 0, 42])
    else { return nil }
    let order: ByteOrder = bytes[0] == 0x49 ? .little : .big
    func number(_ at: Int, _ count: Int) -> Int? {
      at >= 0 && at <= bytes.count - count ? order.number(bytes, at: at, count) : nil
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for entry in 0..<count {
      let at = directory + 2 + 12 * entry
      guard number(at, 2) == 274 else { continue }
      // A SHORT, or a LONG as some programs write it.
      guard let type = number(at + 2, 2), type == 3 || type == 4 else { return nil }
      return number(at + 8, type == 3 ? 2 : 4).flatMap { 1...8 ~= $0 ? $0 : nil }
    }
    return nil
  }
}
