import ZigguratFiles

/// The header of an SGI file (The SGI Image File Format, version 1.00).
struct SGIHeader {
  /// Whether each row is a stream of run lengths.
  let hasRuns: Bool
  let bytesPerSample, width: Int
  /// Rows of all channels.
  let rows: Int

  /// Bytes of a table of streams that are read.
  private static let maxTableSize = 64 << 20

  /// `nil` if there are fewer than 12 bytes.
  init?(_ start: [UInt8]) {
    guard start.count >= 12 else { return nil }
    func number(_ place: Int) -> Int { ByteOrder.big.number(start, at: place, 2) }
    hasRuns = start[2] != 0
    bytesPerSample = Int(start[3])
    width = number(6)
    rows = (number(4) > 1 ? number(8) : 1) * (number(4) > 2 ? number(10) : 1)
  }

  /// The place behind the table of streams.
  var tableEnd: Int { 512 + rows * 8 }

  /// Returns the places of the rows' streams; `nil` if the file does not have their table, or it is too long.
  func streams(in file: SourceFile) -> [Range<Int>]? {
    guard rows * 8 <= Self.maxTableSize, let table = file.bytes(512, rows * 8) else { return nil }
    // The places of the rows, and then their lengths.
    return (0..<rows).map { row in
      let place = ByteOrder.big.number(table, at: 4 * row, 4)
      return place..<place + ByteOrder.big.number(table, at: 4 * (rows + row), 4)
    }
  }
}
