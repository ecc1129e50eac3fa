import TileStorage

/// A tile's URL taken apart without making a string: `/dzi/{id}_files/{level}/{column}_{row}.{ext}`.
struct TileRequest {
  /// As sent, percent-encoded.
  let id: UnsafeRawBufferPointer
  let level: Int
  let column: Int
  let row: Int
  let fileExtension: UnsafeRawBufferPointer

  /// Nil for any other path.
  init?(_ path: UnsafeRawBufferPointer) {
    guard path.count > 12, path.starts(with: Self.root) else { return nil }
    // From the end, since an id may hold slashes.
    var at = path.count
    guard let dot = Self.last(UInt8(ascii: "."), in: path, before: at) else { return nil }
    fileExtension = UnsafeRawBufferPointer(rebasing: path[(dot + 1)...])
    at = dot
    guard let row = Self.number(path, endingAt: &at, after: UInt8(ascii: "_")),
      let column = Self.number(path, endingAt: &at, after: UInt8(ascii: "/")),
      let level = Self.number(path, endingAt: &at, after: UInt8(ascii: "/"))
    else { return nil }
    (self.level, self.column, self.row) = (level, column, row)
    let idEnd = at - Self.files.utf8CodeUnitCount
    guard idEnd > Self.root.utf8CodeUnitCount, path[idEnd..<at].elementsEqual(Self.files) else { return nil }
    id = UnsafeRawBufferPointer(rebasing: path[Self.root.utf8CodeUnitCount..<idEnd])
  }

  private static let root: StaticString = "/dzi/"
  private static let files: StaticString = "_files"

  static func last(_ byte: UInt8, in path: UnsafeRawBufferPointer, before end: Int) -> Int? {
    var at = end - 1
    // A file extension is short; a path without a dot near its end is no tile's.
    while at >= 0, end - at <= 8 {
      if path[at] == byte { return at }
      at -= 1
    }
    return nil
  }

  /// The digits that end at `end`, which moves to the byte in front of them; nil where that byte is not
  /// `before` or the number has a leading zero.
  static func number(
    _ path: UnsafeRawBufferPointer, endingAt end: inout Int, after before: UInt8
  ) -> Int? {
    var value = 0
    var unit = 1
    var at = end - 1
    while at >= 0, case let digit = path[at] &- UInt8(ascii: "0"), digit <= 9 {
      guard end - at <= 12 else { return nil }
      value += Int(digit) * unit
      unit *= 10
      at -= 1
    }
    let count = end - 1 - at
    guard count > 0, at >= 0, path[at] == before else { return nil }
    guard count == 1 || path[at + 1] != UInt8(ascii: "0") else { return nil }
    end = at
    return value
  }
}

extension UnsafeRawBufferPointer {
  func starts(with text: StaticString) -> Bool {
    count >= text.utf8CodeUnitCount
      && UnsafeRawBufferPointer(rebasing: self[..<text.utf8CodeUnitCount]).elementsEqual(text)
  }
}

extension Collection<UInt8> {
  func elementsEqual(_ text: StaticString) -> Bool {
    elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
