import TileStorage
import ZigguratFiles

/// Run-length streams of Targa, PCX and SGI: one that is damaged gives other pixels from there on, and more or fewer
/// than the picture, or the row, has. ImageMagick does not report it.
enum RunLengths {
  /// The damage of a Targa file with runs; nil if its stream fills the picture exactly, or it has none (Truevision TGA
  /// File Format Specification, version 2.0).
  static func targa(_ start: [UInt8], _ file: SourceFile) -> SourceDamage? {
    guard start.count >= 18, start[1] < 2, [9, 10, 11].contains(start[2]) else { return nil }
    func number(_ at: Int) -> Int { Int(start[at]) | Int(start[at + 1]) << 8 }
    let mapSize = start[1] == 1 ? number(5) * ((Int(start[7]) + 7) / 8) : 0
    let all = number(12) * number(14)
    let pixelSize = (Int(start[16]) + 7) / 8
    var cursor = SourceBytes(file, at: 18 + Int(start[0]) + mapSize)
    var count = 0
    while count < all {
      guard let head = cursor.next() else { return missing("TGA", all - count, all) }
      let length = Int(head & 0x7f) + 1
      guard cursor.skip(head & 0x80 == 0 ? length * pixelSize : pixelSize) else {
        return missing("TGA", all - count, all)
      }
      count += length
    }
    if count > all { return contradiction("TGA") }
    // The two areas that may follow, and the footer, are found from the file's end.
    let size = file.identity.size
    var end = size
    if size >= 26, let footer = file.bytes(size - 26, 26),
      footer[8...].starts(with: "TRUEVISION-XFILE".utf8)
    {
      let areas = [0, 4].map { ByteOrder.little.number(footer, at: $0, 4) }
      end = ([size - 26] + areas.filter { $0 >= 18 }).min() ?? size
    }
    return isEmpty(from: cursor.place, to: end, file) ? nil : contradiction("TGA")
  }

  /// The same of a PCX file (ZSoft PCX File Format Technical Reference Manual).
  static func pcx(_ file: SourceFile) -> SourceDamage? {
    guard let start = file.bytes(0, 128), start[0] == 0x0a, start[2] == 1 else { return nil }
    func number(_ at: Int) -> Int { Int(start[at]) | Int(start[at + 1]) << 8 }
    let height = number(10) - number(6) + 1
    let (planes, rowSize) = (Int(start[65]), number(66))
    guard height > 0, planes > 0, rowSize > 0 else { return nil }
    let all = height * planes * rowSize
    // A palette of 256 colours behind a byte of 12 ends the file.
    let size = file.identity.size
    let hasPalette = planes == 1 && start[3] == 8 && size > 128 + 769 && file.bytes(size - 769, 1) == [12]
    let end = hasPalette ? size - 769 : size
    var cursor = SourceBytes(file, at: 128)
    var count = 0
    while count < all {
      guard cursor.place < end, let head = cursor.next() else { return missing("PCX", all - count, all) }
      if head < 0xc0 {
        count += 1
      } else {
        guard cursor.skip(1) else { return missing("PCX", all - count, all) }
        count += Int(head & 0x3f)
      }
    }
    if count > all { return contradiction("PCX") }
    return isEmpty(from: cursor.place, to: end, file) ? nil : contradiction("PCX")
  }

  /// The same of an SGI file, which has a stream for each row of each channel (The SGI Image File Format, version
  /// 1.00).
  static func sgi(_ start: [UInt8], _ file: SourceFile) -> SourceDamage? {
    guard let header = SGIHeader(start), start[2] == 1, 1...2 ~= header.bytesPerSample,
      let streams = header.streams(in: file)
    else { return nil }
    let (width, size) = (header.width, header.bytesPerSample)
    var wrong = 0
    // Rows may share a stream; a table that lets each have most of the file is no picture's.
    var bytesLeft = 4 * file.identity.size + (64 << 20)
    for stream in streams {
      // A pixel has two numbers at most.
      let count = min(stream.count, (2 * width + 2) * size)
      bytesLeft -= count
      guard bytesLeft > 0 else { break }
      let bytes = file.bytes(stream.lowerBound, count)
      if bytes.flatMap({ pixels(ofSGI: $0, bytesPerSample: size) }) != width { wrong += 1 }
    }
    return wrong == 0
      ? nil
      : SourceDamage(
        .error,
        "the SGI file is damaged: the run lengths of \(wrong) of \(header.rows) rows do not give the number of their pixels"
      )
  }

  /// Returns the number of pixels that a row of an SGI file has; nil if its last run lacks bytes.
  private static func pixels(ofSGI row: [UInt8], bytesPerSample size: Int) -> Int? {
    var (place, count) = (0, 0)
    while place + size <= row.count {
      let head = row[place + size - 1]
      let length = Int(head & 0x7f)
      // Most writers end a row so.
      if length == 0 { return count }
      place += size + (head & 0x80 == 0 ? 1 : length) * size
      guard place <= row.count else { return nil }
      count += length
    }
    return count
  }

  /// Whether there is nothing but padding; false if the range ends before it begins.
  private static func isEmpty(from start: Int, to end: Int, _ file: SourceFile) -> Bool {
    var cursor = SourceBytes(file, at: start)
    while cursor.place < end, let byte = cursor.next() {
      if byte != 0 { return false }
    }
    return start <= end
  }

  private static func missing(_ format: String, _ count: Int, _ all: Int) -> SourceDamage {
    SourceDamage(.truncated, "the \(format) file is cut off: \(count) of \(all) samples are missing")
  }

  static func contradiction(_ format: String) -> SourceDamage {
    SourceDamage(
      .error, "the \(format) file is damaged: its run lengths do not give the number of its pixels")
  }
}
