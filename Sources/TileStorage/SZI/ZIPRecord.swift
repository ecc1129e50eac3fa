/// The records of a ZIP file (PKWARE APPNOTE 6.3), as far as stored entries need them.
enum ZIPRecord {
  static let localHeader = 0x0403_4b50
  static let localHeaderSize = 30
  static let centralEntry = 0x0201_4b50
  static let centralEntrySize = 46
  static let end = 0x0605_4b50
  static let endSize = 22
  static let end64 = 0x0606_4b50
  static let end64Size = 56
  static let end64Locator = 0x0706_4b50
  static let end64LocatorSize = 20
  static let zip64Field = 1

  /// 1 January 1980, the format's first day: the same input gives the same bytes on any day.
  static let date = 0x0021
  /// Names are UTF-8 (APPNOTE 4.4.4, bit 11).
  static let utf8Names = 0x0800

  static func appendLocalHeader(_ bytes: inout [UInt8], name: [UInt8], size: Int, crc: UInt32) {
    bytes.append32(localHeader)
    bytes.append16(10)
    appendCommon(&bytes, name: name, size: size, crc: crc, extra: 0)
    bytes += name
  }

  static func appendCentralEntry(
    _ bytes: inout [UInt8], name: [UInt8], size: Int, crc: UInt32, offset: Int
  ) {
    let isFar = offset >= 0xffff_ffff
    bytes.append32(centralEntry)
    bytes.append16(3 << 8 | (isFar ? 45 : 10))  // made by Unix, for the file mode below
    bytes.append16(isFar ? 45 : 10)
    appendCommon(&bytes, name: name, size: size, crc: crc, extra: isFar ? 12 : 0)
    for _ in 0..<3 { bytes.append16(0) }  // comment, disk, internal attributes
    bytes.append32(0o100644 << 16)
    bytes.append32(isFar ? 0xffff_ffff : offset)
    bytes += name
    if isFar {
      bytes.append16(zip64Field)
      bytes.append16(8)
      bytes.append64(offset)
    }
  }

  private static func appendCommon(
    _ bytes: inout [UInt8], name: [UInt8], size: Int, crc: UInt32, extra: Int
  ) {
    bytes.append16(name.allSatisfy { $0 < 0x80 } ? 0 : utf8Names)
    bytes.append16(0)  // stored
    bytes.append16(0)
    bytes.append16(date)
    bytes.append32(Int(crc))
    bytes.append32(size)
    bytes.append32(size)
    bytes.append16(name.count)
    bytes.append16(extra)
  }

  /// Appends the end of the central directory, with the ZIP64 records if counts or offsets need them.
  static func appendEnd(_ bytes: inout [UInt8], entries: Int, directorySize: Int, directoryOffset: Int) {
    let endOffset = directoryOffset + directorySize
    if entries >= 0xffff || directorySize >= 0xffff_ffff || directoryOffset >= 0xffff_ffff {
      bytes.append32(end64)
      bytes.append64(end64Size - 12)
      bytes.append16(3 << 8 | 45)
      bytes.append16(45)
      bytes.append32(0)
      bytes.append32(0)
      bytes.append64(entries)
      bytes.append64(entries)
      bytes.append64(directorySize)
      bytes.append64(directoryOffset)
      bytes.append32(end64Locator)
      bytes.append32(0)
      bytes.append64(endOffset)
      bytes.append32(1)
    }
    bytes.append32(end)
    bytes.append16(0)
    bytes.append16(0)
    bytes.append16(min(entries, 0xffff))
    bytes.append16(min(entries, 0xffff))
    bytes.append32(min(directorySize, 0xffff_ffff))
    bytes.append32(min(directoryOffset, 0xffff_ffff))
    bytes.append16(0)
  }
}
