import TileStorage

/// The status and the header fields of a response that are checked against the request.
struct ResponseHead: Sendable {
  var status = 0
  /// The header fields that describe the body, by lowercase names.
  private var fields: [String: String] = [:]
  /// The fields that are kept. Stores send many more.
  private static let known = [
    "content-encoding", "content-length", "content-range", "etag", "last-modified",
  ]
  /// Whether one of them was sent twice with different values.
  private var isAmbiguous = false
  private var bytes = 0
  /// The maximum size of all header fields together, in bytes.
  private static let maxLength = 64 << 10

  /// Takes a line of the response.
  /// - Returns: false if the header is too long.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    guard bytes <= Self.maxLength else { return false }
    // An interim response, such as 100, has a header of its own.
    if line.starts(with: "HTTP/".utf8) {
      self = ResponseHead()
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      status = parts.dropFirst().first.flatMap { Int(Self.trimmed($0)) } ?? 0
      return true
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
      let name = Self.known.first(where: { Self.isSame(line[..<colon], $0) })
    else { return true }
    let value = Self.trimmed(line[(colon + 1)...])
    if let other = fields[name], other != value { isAmbiguous = true }
    fields[name] = value
    return true
  }

  /// - Parameter name: the name in lower case.
  private static func isSame(_ bytes: Slice<UnsafeRawBufferPointer>, _ name: String) -> Bool {
    bytes.count == name.utf8.count
      && zip(bytes, name.utf8).allSatisfy { byte, other in
        byte == other || (byte | 0x20 == other && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte))
      }
  }

  /// Returns a value without the blanks around it and the end of the line.
  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d || $0 == 0x0a }
    let value = bytes.drop(while: isBlank)
    guard let last = value.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(decoding: value[...last], as: UTF8.self)
  }

  subscript(name: String) -> String? { fields[name] }

  /// The error that the status states; nil if it states success.
  var error: ObjectError? {
    switch status {
    case 200..<300: isAmbiguous ? .damaged : nil
    case 404: .missing
    // The range is outside the object, or the condition failed: the object has another version.
    case 412, 416: .otherVersion
    case 408, 429, 500, 502, 503, 504: .unavailable
    default: .refused(status)
    }
  }

  /// The entity tag between quotation marks; nil if there is no strong tag that can be sent in a header.
  var etag: String? {
    guard let text = fields["etag"], !text.hasPrefix("W/"), Self.isTag(text) else { return nil }
    return Self.quoted(text)
  }

  /// Whether an entity tag can be sent in a header and stored in a line of an index. It must be printable ASCII without
  /// spaces (RFC 9110, section 8.8.3, without the obsolete bytes above 0x7f).
  static func isTag(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// Returns an entity tag with quotation marks, which some stores omit in lists.
  static func quoted(_ etag: String) -> String { etag.hasPrefix("\"") ? etag : "\"\(etag)\"" }

  /// The range in `bytes FIRST-LAST/WHOLE`; nil if the field has another format.
  var contentRange: (range: Range<Int>, whole: Int)? {
    guard let text = fields["content-range"], text.hasPrefix("bytes ") else { return nil }
    let bytes = text.utf8.dropFirst("bytes ".utf8.count)
    guard let dash = bytes.firstIndex(of: UInt8(ascii: "-")),
      let slash = bytes.firstIndex(of: UInt8(ascii: "/")),
      dash < slash, let first = Self.number(bytes[..<dash]),
      let last = Self.number(bytes[bytes.index(after: dash)..<slash]),
      let whole = Self.number(bytes[bytes.index(after: slash)...]), first <= last, last < whole
    else { return nil }
    return (first..<last + 1, whole)
  }

  /// Parses a number that has only digits.
  private static func number(_ bytes: Substring.UTF8View) -> Int? {
    bytes.allSatisfy { $0 >= 0x30 && $0 < 0x3a } ? Int(Substring(bytes)) : nil
  }
}
