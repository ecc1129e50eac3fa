import ZigguratFiles

/// Reads the bytes of a file one after the other.
struct SourceBytes {
  /// The place of the next byte.
  private(set) var place: Int
  /// Whether a byte behind the file's end was asked for.
  private(set) var hasEnded = false
  private let file: SourceFile
  private var buffer: [UInt8] = []
  /// The place of the next byte in the buffer.
  private var at = 0

  init(_ file: SourceFile, at place: Int) {
    self.file = file
    self.place = place
  }

  /// Returns the next byte; `nil` at the file's end.
  mutating func next() -> UInt8? {
    if at == buffer.count {
      buffer = file.bytes(from: place, atMost: 1 << 16)
      at = 0
      guard !buffer.isEmpty else {
        hasEnded = true
        return nil
      }
    }
    place += 1
    at += 1
    return buffer[at - 1]
  }

  /// Returns the next bytes; `nil` if the file does not have as many.
  mutating func next(_ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    for _ in 0..<count {
      guard let byte = next() else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Passes over bytes.
  ///
  /// - Returns: whether the file has as many.
  mutating func skip(_ count: Int) -> Bool {
    guard place + count <= file.identity.size else {
      hasEnded = true
      return false
    }
    place += count
    at = min(at + count, buffer.count)
    return true
  }
}
