import ZigguratFiles

/// The central directory of a ZIP file in memory, entry by entry.
struct ZIPDirectory {
  struct Entry {
    let name: UnsafeRawBufferPointer
    let headerOffset: Int
    let size: Int
    let crc: UInt32
    /// Whether the entry is stored and not encrypted, so that its bytes can be sent unchanged.
    let isPlain: Bool
  }

  /// The directory's own bytes.
  let bytes: UnsafeRawBufferPointer
  let count: Int
  private static let action = "read the archive"

  /// The location of a directory in its file.
  enum Extent {
    case here(count: Int, Range<Int>)
    /// The directory begins at this position, before the available bytes.
    case before(Int)
  }

  /// - Parameter start: the position of the bytes in the file; they extend to its end.
  init(_ file: UnsafeRawBufferPointer, at start: Int = 0) throws(StorageError) {
    guard case .here(let count, let range) = try Self.extent(file, at: start) else {
      throw StorageError(Self.action, "its ZIP directory is damaged or cut short")
    }
    bytes = UnsafeRawBufferPointer(rebasing: file[range.lowerBound - start..<range.upperBound - start])
    self.count = count
  }

  /// Finds the directory from the file's end.
  /// - Parameter start: the position of the bytes in the file; they extend to its end.
  static func extent(_ file: UnsafeRawBufferPointer, at start: Int) throws(StorageError) -> Extent {
    guard let end = findEnd(file) else {
      throw StorageError(action, "no ZIP directory at its end: not an archive, or cut short")
    }
    var count = file.little16(at: end + 10)
    var size = file.little32(at: end + 12)
    var offset = file.little32(at: end + 16)
    let locator = end - ZIPRecord.end64LocatorSize
    if locator >= 0, file.little32(at: locator) == ZIPRecord.end64Locator {
      func damaged() -> StorageError { StorageError(action, "its ZIP64 directory end is damaged") }
      guard let far = file.little64(at: locator + 8), far <= start + locator - ZIPRecord.end64Size else {
        throw damaged()
      }
      guard far >= start else { return .before(far) }
      let at = far - start
      guard file.little32(at: at) == ZIPRecord.end64, let count64 = file.little64(at: at + 32),
        let size64 = file.little64(at: at + 40), let offset64 = file.little64(at: at + 48)
      else { throw damaged() }
      count = count64
      size = size64
      offset = offset64
    }
    guard offset <= start + end, size <= start + end - offset, count <= size / ZIPRecord.centralEntrySize
    else {
      throw StorageError(action, "its ZIP directory is damaged or cut short")
    }
    return offset < start ? .before(offset) : .here(count: count, offset..<offset + size)
  }

  /// Whether only its end records follow it: no comment, and not the end of another archive.
  func endsFile(_ file: UnsafeRawBufferPointer) -> Bool {
    guard let start = file.baseAddress, let own = bytes.baseAddress else { return false }
    let rest = file.count - (own - start) - bytes.count
    let long = ZIPRecord.end64Size + ZIPRecord.end64LocatorSize + ZIPRecord.endSize
    return rest == ZIPRecord.endSize || rest == long
  }

  /// Finds the end record. It is the last record, before a comment of at most 65,535 bytes.
  private static func findEnd(_ file: UnsafeRawBufferPointer) -> Int? {
    guard file.count >= ZIPRecord.endSize else { return nil }
    var at = file.count - ZIPRecord.endSize
    let first = max(0, at - 0xffff)
    while at >= first {
      if file.little32(at: at) == ZIPRecord.end,
        at + ZIPRecord.endSize + file.little16(at: at + 20) == file.count
      {
        return at
      }
      at -= 1
    }
    return nil
  }

  /// Calls `body` with every entry in the directory's order.
  func forEntries(_ body: (Entry) throws(StorageError) -> Void) throws(StorageError) {
    var at = 0
    for number in 0..<count {
      guard at + ZIPRecord.centralEntrySize <= bytes.count,
        bytes.little32(at: at) == ZIPRecord.centralEntry
      else { throw StorageError(Self.action, "entry \(number) of its ZIP directory is damaged") }
      let nameStart = at + ZIPRecord.centralEntrySize
      let extraStart = nameStart + bytes.little16(at: at + 28)
      let extraEnd = extraStart + bytes.little16(at: at + 30)
      let next = extraEnd + bytes.little16(at: at + 32)
      guard next <= bytes.count else {
        throw StorageError(Self.action, "entry \(number) of its ZIP directory is cut short")
      }
      var sizes = (stored: bytes.little32(at: at + 20), plain: bytes.little32(at: at + 24))
      var offset = bytes.little32(at: at + 42)
      try widen(&sizes.plain, &sizes.stored, &offset, from: extraStart, to: extraEnd, number)
      try body(
        Entry(
          name: UnsafeRawBufferPointer(rebasing: bytes[nameStart..<extraStart]), headerOffset: offset,
          size: sizes.plain, crc: UInt32(bytes.little32(at: at + 16)),
          isPlain: bytes.little16(at: at + 10) == 0 && bytes.little16(at: at + 8) & 1 == 0
            && sizes.plain == sizes.stored))
      at = next
    }
  }

  /// Reads 64-bit numbers from the ZIP64 field. It contains those numbers, in this order, whose short form is all ones
  /// (APPNOTE 4.5.3).
  private func widen(
    _ size: inout Int, _ stored: inout Int, _ offset: inout Int, from start: Int, to end: Int,
    _ number: Int
  ) throws(StorageError) {
    guard size == 0xffff_ffff || stored == 0xffff_ffff || offset == 0xffff_ffff else { return }
    var at = start
    while at + 4 <= end {
      let fieldEnd = at + 4 + bytes.little16(at: at + 2)
      guard bytes.little16(at: at) == ZIPRecord.zip64Field, fieldEnd <= end else {
        at = fieldEnd
        continue
      }
      var value = at + 4
      func wide(_ number: Int) -> Int? {
        guard number == 0xffff_ffff else { return number }
        guard value + 8 <= fieldEnd else { return nil }
        defer { value += 8 }
        return bytes.little64(at: value)
      }
      if let a = wide(size), let b = wide(stored), let c = wide(offset) {
        size = a
        stored = b
        offset = c
        return
      }
      break
    }
    throw StorageError(Self.action, "entry \(number) of its ZIP directory lacks its ZIP64 sizes")
  }
}
