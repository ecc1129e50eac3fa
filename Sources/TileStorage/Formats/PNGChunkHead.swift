package import ZigguratFiles

/// The length and the name of a PNG file's chunk (PNG, third edition, 5.3).
package struct PNGChunkHead: Hashable {
  package let length: Int
  /// Four letters as a number, the first the highest byte.
  package let name: UInt32

  /// Reads the head at a position; nil if the file does not have it.
  package init?(_ reader: PositionalReader, at place: Int) {
    guard let number = reader.number(at: place) else { return nil }
    length = Int(number >> 32)
    name = UInt32(truncatingIfNeeded: number)
  }

  /// The name as text.
  package var text: String {
    String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: name >> (24 - 8 * $0)) }, as: UTF8.self)
  }

  /// Returns the position of the last chunk of pixel data before the first chunk of another length. The last chunk of
  /// all usually has another length.
  ///
  /// Chunks of pixel data are consecutive (PNG, third edition, 5.6), thousands of equal length in a large file. If the
  /// same eight bytes occur a multiple of this length further on, they are the head of another such chunk. Everything
  /// in between is pixel data.
  package func lastAlike(_ reader: PositionalReader, from place: Int) -> Int {
    let size = 12 + length
    var (last, count) = (place, 1)
    func isAlike(_ place: Int) -> Bool { PNGChunkHead(reader, at: place) == self }
    while isAlike(last + count * size) {
      last += count * size
      count *= 2
    }
    count /= 2
    while count > 0 {
      if isAlike(last + count * size) { last += count * size }
      count /= 2
    }
    return last
  }
}
