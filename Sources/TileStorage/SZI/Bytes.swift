/// Little-endian numbers, as in ZIP files, at any alignment.
extension UnsafeRawBufferPointer {
  func little16(at offset: Int) -> Int {
    Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  func little32(at offset: Int) -> Int {
    Int(UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  /// Returns the number; nil if it is above `Int.max`.
  func little64(at offset: Int) -> Int? {
    Int(exactly: UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
  }
}

extension [UInt8] {
  mutating func append16(_ value: Int) { appendLittle(UInt16(truncatingIfNeeded: value)) }

  mutating func append32(_ value: Int) { appendLittle(UInt32(truncatingIfNeeded: value)) }

  mutating func append64(_ value: Int) { appendLittle(UInt64(truncatingIfNeeded: value)) }

  private mutating func appendLittle(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }
}
