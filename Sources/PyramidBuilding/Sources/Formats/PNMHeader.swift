import ZigguratFiles
import ZigguratImaging

/// The header of a Netpbm picture (netpbm.sourceforge.net/doc) or a PFM file, and the rows that the file has.
struct PNMHeader {
  /// The second byte of the file: `1` to `6`, `F` or `f`.
  let kind: UInt8
  let width, height: Int
  /// The value of white; 1 of bitmaps and floats.
  let greatest: Int
  /// The place of the first sample.
  private let start: Int
  private let file: SourceFile

  /// Bytes in which the header is looked for, comments included.
  private static let maxLength = 1 << 16

  /// `nil` if the file is of another format.
  init?(_ file: SourceFile) {
    let bytes = file.bytes(atMost: Self.maxLength)
    guard bytes.count > 2, bytes[0] == UInt8(ascii: "P"), "123456Ff".utf8.contains(bytes[1]) else {
      return nil
    }
    self.file = file
    kind = bytes[1]
    var at = 2
    func token() -> String? {
      while at < bytes.count {
        if bytes[at] == UInt8(ascii: "#") {
          while at < bytes.count, bytes[at] != 0x0a, bytes[at] != 0x0d { at += 1 }
        } else if Self.isSpace(bytes[at]) {
          at += 1
        } else {
          break
        }
      }
      let token = bytes[at...].prefix { !Self.isSpace($0) && $0 != UInt8(ascii: "#") }
      at = token.endIndex
      return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }
    guard let width = token().flatMap({ Int($0) }), let height = token().flatMap({ Int($0) }),
      1...Int(Int32.max) ~= width, 1...Int(Int32.max) ~= height
    else { return nil }
    self.width = width
    self.height = height
    var greatest = 1
    switch kind {
    case UInt8(ascii: "1"), UInt8(ascii: "4"): break
    case UInt8(ascii: "F"), UInt8(ascii: "f"): guard token() != nil else { return nil }
    default:
      guard let value = token().flatMap({ Int($0) }), 1...65535 ~= value else { return nil }
      greatest = value
    }
    self.greatest = greatest
    // One space stands in front of the samples.
    start = at + 1
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0d ~= byte }

  var isFloat: Bool { kind == UInt8(ascii: "F") || kind == UInt8(ascii: "f") }
  var isBitmap: Bool { "14".utf8.contains(kind) }
  private var isPlain: Bool { "123".utf8.contains(kind) }
  private var bands: Int { "36F".utf8.contains(kind) ? 3 : 1 }

  /// Bytes of a row of samples, of files that have bytes.
  private var rowSize: Int {
    switch kind {
    case UInt8(ascii: "4"): (width + 7) / 8
    case _ where isFloat: width * bands * 4
    default: width * bands * (greatest > 255 ? 2 : 1)
    }
  }

  /// Bytes that the file should have; nil of plain text.
  var declaredSize: Int? {
    guard !isPlain, case (let bytes, false) = rowSize.multipliedReportingOverflow(by: height) else {
      return nil
    }
    return start + bytes
  }

  /// Whether another picture follows this one, as netpbm allows. Plain files are not looked at.
  var hasFurtherPictures: Bool {
    guard let end = declaredSize, let next = file.bytes(end, 3) else { return false }
    return next[0] == UInt8(ascii: "P") && "1234567Ff".utf8.contains(next[1]) && Self.isSpace(next[2])
  }

  /// The number of incomplete or missing rows in the file.
  var missingRows: Int {
    guard isPlain else {
      return max(0, height - max(0, file.identity.size - start) / max(1, rowSize))
    }
    let row = width * bands
    guard case (let count, false) = row.multipliedReportingOverflow(by: height) else { return height }
    return height - min(height, samples(atMost: count) / row)
  }

  /// Counts the samples of a plain file.
  private func samples(atMost most: Int) -> Int {
    var (place, count, isInside) = (start, 0, false)
    while count < most {
      let part = file.bytes(from: place, atMost: 1 << 18)
      if part.isEmpty { break }
      for byte in part {
        if kind == UInt8(ascii: "1") {
          if byte == UInt8(ascii: "0") || byte == UInt8(ascii: "1") { count += 1 }
        } else if Self.isSpace(byte) {
          isInside = false
        } else if !isInside {
          isInside = true
          count = count + 1
        }
      }
      place += part.count
    }
    return min(count, most)
  }
}

/// A truncated file, with zeros in place of the missing data.
final class FilledFile: ByteSupply {
  private let file: SourceFile
  let byteCount: Int

  init(_ file: SourceFile, byteCount: Int) {
    self.file = file
    self.byteCount = byteCount
  }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(bytes.count, byteCount - offset))
    let there = max(0, min(count, file.identity.size - offset))
    if there > 0 {
      guard let found = file.bytes(offset, there) else { return -1 }
      bytes.copyBytes(from: found)
    }
    for at in there..<max(there, count) { bytes[at] = 0 }
    return count
  }
}
