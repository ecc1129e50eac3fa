import ZigguratFiles

/// The directory of an icon or a cursor of Windows: the same picture in several sizes.
struct IconDirectory {
  /// Width, height and bits per pixel; cursors have no number of bits.
  let entries: [(width: Int, height: Int, bits: Int)]

  /// `nil` if the file is no icon, or has no picture.
  init?(_ file: SourceFile) {
    guard let start = file.bytes(0, 6), start[0] == 0, start[1] == 0, start[2] == 1 || start[2] == 2,
      start[3] == 0
    else { return nil }
    let count = Int(start[4]) | Int(start[5]) << 8
    guard count > 0, let table = file.bytes(6, 16 * count) else { return nil }
    entries = (0..<count).map { index in
      let entry = Array(table[16 * index..<16 * index + 16])
      // A side of 256 pixels is written as 0.
      func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
      let bits = start[2] == 1 ? Int(entry[6]) | Int(entry[7]) << 8 : 0
      return (side(entry[0]), side(entry[1]), bits)
    }
  }

  /// The place of the largest picture, of several of one size that of the most bits.
  var largest: Int {
    func size(_ index: Int) -> (Int, Int) {
      (entries[index].width * entries[index].height, entries[index].bits)
    }
    return entries.indices.reduce(0) { size($1) > size($0) ? $1 : $0 }
  }
}
