import TileStorage

/// The status and the fields of an answer that stand against what was asked.
struct AnswerHead: Sendable {
  var status = 0
  /// Those that say what the body is, by names in small letters.
  private var fields: [String: String] = [:]
  private static let known: Set<String> = [
    "content-encoding", "content-length", "content-range", "etag", "last-modified", "retry-after",
  ]
  /// One of them came twice, with different values.
  private var isAmbiguous = false
  private var bytes = 0
  /// Of all fields together.
  private static let longest = 64 << 10

  /// Takes a line as it came.
  /// - Returns: false where it is more than any answer has.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    guard bytes <= Self.longest else { return false }
    let text = String(decoding: line, as: UTF8.self)
    // An answer before the last, such as 100, has a head of its own.
    if text.hasPrefix("HTTP/") {
      self = AnswerHead()
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return true
    }
    guard let colon = text.firstIndex(of: ":") else { return true }
    let name = text[..<colon].lowercased()
    guard Self.known.contains(name) else { return true }
    let value = text[text.index(after: colon)...].drop(while: \.isWhitespace)
    let trimmed = value.lastIndex { !$0.isWhitespace }.map { String(value[...$0]) } ?? ""
    if let other = fields[name], other != trimmed { isAmbiguous = true }
    fields[name] = trimmed
    return true
  }

  subscript(name: String) -> String? { fields[name] }

  /// What the store says is wrong, by the status alone; nil where it says that nothing is.
  var fault: ObjectFault? {
    switch status {
    case 200..<300: isAmbiguous ? .damaged : nil
    case 404: .missing
    // The range lies outside, or the condition does not hold: the object is another one.
    case 412, 416: .otherVersion
    case 408, 429, 500, 502, 503, 504:
      .unavailable(.seconds(min(max(self["retry-after"].flatMap { Int($0) } ?? 1, 1), 60)))
    default: .refused(status)
    }
  }

  /// Between quotation marks; nil where there is none that names bytes.
  var etag: String? {
    guard let text = fields["etag"], !text.hasPrefix("W/"), !text.isEmpty else { return nil }
    return Self.quoted(text)
  }

  /// Some stores leave the marks away in lists.
  static func quoted(_ etag: String) -> String { etag.hasPrefix("\"") ? etag : "\"\(etag)\"" }

  /// `bytes FIRST-LAST/WHOLE`; nil where it is anything else.
  var contentRange: (range: Range<Int>, whole: Int)? {
    guard let text = fields["content-range"], text.hasPrefix("bytes ") else { return nil }
    let parts = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
    let ends = parts.first?.split(separator: "-", omittingEmptySubsequences: false) ?? []
    func number(_ text: Substring) -> Int? {
      text.utf8.allSatisfy { $0 >= 0x30 && $0 < 0x3a } ? Int(text) : nil
    }
    guard parts.count == 2, ends.count == 2, let first = number(ends[0]), let last = number(ends[1]),
      let whole = number(parts[1]), first <= last, last < whole
    else { return nil }
    return (first..<last + 1, whole)
  }
}
