enum ZIPLocalEntry {
  /// The stored bytes behind a local header, or nil where the header is damaged or the data past the end.
  static func data(in file: UnsafeRawBufferPointer, headerOffset: Int, size: Int) -> UnsafeRawBufferPointer? {
    guard headerOffset <= file.count - ZIPRecord.localHeaderSize,
      file.little32(at: headerOffset) == ZIPRecord.localHeader
    else { return nil }
    let start =
      headerOffset + ZIPRecord.localHeaderSize + file.little16(at: headerOffset + 26)
      + file.little16(at: headerOffset + 28)
    guard start <= file.count, size <= file.count - start else { return nil }
    return UnsafeRawBufferPointer(rebasing: file[start..<start + size])
  }

  /// Whether there is a local header of a stored entry with this size and checksum.
  static func states(size: Int, crc: UInt32, in file: UnsafeRawBufferPointer, headerOffset: Int) -> Bool {
    data(in: file, headerOffset: headerOffset, size: size) != nil
      && file.little32(at: headerOffset + 14) == Int(crc) && file.little32(at: headerOffset + 18) == size
      && file.little32(at: headerOffset + 22) == size
  }
}
