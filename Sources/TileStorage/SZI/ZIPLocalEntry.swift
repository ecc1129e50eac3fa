enum ZIPLocalEntry {
  /// Returns the stored bytes behind a local header; nil if the header is damaged or the data extends past the end.
  static func data(in file: UnsafeRawBufferPointer, headerOffset: Int, size: Int) -> UnsafeRawBufferPointer? {
    guard let headerSize = headerSize(in: file, at: headerOffset) else { return nil }
    let start = headerOffset + headerSize
    guard start <= file.count, size <= file.count - start else { return nil }
    return UnsafeRawBufferPointer(rebasing: file[start..<start + size])
  }

  /// Returns the number of bytes from a local header's start to its data; nil if there is no header.
  @inline(__always)
  static func headerSize(in file: UnsafeRawBufferPointer, at offset: Int) -> Int? {
    guard offset <= file.count - ZIPRecord.localHeaderSize,
      file.little32(at: offset) == ZIPRecord.localHeader
    else { return nil }
    return ZIPRecord.localHeaderSize + file.little16(at: offset + 26) + file.little16(at: offset + 28)
  }

  /// Whether there is a local header of a stored entry with this size and checksum.
  static func states(size: Int, crc: UInt32, in file: UnsafeRawBufferPointer, headerOffset: Int) -> Bool {
    data(in: file, headerOffset: headerOffset, size: size) != nil
      && file.little32(at: headerOffset + 14) == Int(crc) && file.little32(at: headerOffset + 18) == size
      && file.little32(at: headerOffset + 22) == size
  }
}
