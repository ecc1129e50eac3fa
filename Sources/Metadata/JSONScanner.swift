import Foundation

/// The text of a person's JSON file. It finds the positions of errors and members, which Foundation's coders do not
/// report.
struct JSONScanner {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A member of the outermost object.
  struct Member {
    let name: String
    /// The line number, counted from 1.
    let line: Int
  }

  /// The first position that is not UTF-8, in a clause; nil if all of the text is UTF-8.
  var encodingError: String? {
    firstOffsetOutsideUTF8.map { "is not encoded in UTF-8 (\(place(ofByte: $0)))" }
  }

  /// The syntax error of the text with its position, in a clause; nil if Foundation reads it.
  var syntaxError: String? {
    do { _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) } catch {
      let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? ""
      // "Invalid value around character 8."
      let words = reason.split(separator: " ")
      guard let at = words.firstIndex(of: "character"), at + 1 < words.count,
        let offset = Int(words[at + 1].prefix { $0.isNumber })
      else { return "is not valid JSON (it ends too early, at \(place(ofByte: bytes.count)))" }
      let what = words[..<at].filter { !["around", "at"].contains($0) }.joined(separator: " ").lowercased()
      return "is not valid JSON (\(place(ofByte: offset)): \(what))"
    }
    return nil
  }

  private var firstOffsetOutsideUTF8: Int? {
    // UTF-16 with a byte order mark, as some editors write it.
    if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) { return nil }
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var decoder = UTF8()
    var (iterator, offset) = (bytes.makeIterator(), 0)
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { offset += UTF8.width(scalar) }
    return offset
  }

  private func place(ofByte offset: Int) -> String {
    let before = bytes.prefix(offset)
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = String(decoding: before[start...], as: UTF8.self).count + 1
    return "line \(line(ofByte: offset)), column \(column)"
  }

  private func line(ofByte offset: Int) -> Int {
    bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
  }

  /// Returns the members of the outermost object in their order, including duplicates. Also returns the lines of
  /// trailing commas. Only for valid JSON in UTF-8.
  func outline() -> (members: [Member], spareCommas: [Int]) {
    var (members, spareCommas): ([Member], [Int]) = ([], [])
    var (depth, line, at) = (0, 1, 0)
    var comma: Int?
    var isName = false
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\n"): line += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
      case UInt8(ascii: "\""):
        let start = at
        at += 1
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") {
          at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        if depth == 1, isName, at < bytes.count,
          let name = try? JSONDecoder().decode(String.self, from: Data(bytes[start...at]))
        {
          members.append(Member(name: name, line: line))
        }
        isName = false
        comma = nil
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        isName = bytes[at] == UInt8(ascii: "{")
        comma = nil
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if let comma { spareCommas.append(comma) }
        depth -= 1
        isName = false
        comma = nil
      case UInt8(ascii: ","):
        // Only in the outermost object does it matter whether names follow.
        isName = depth == 1
        comma = line
      default: comma = nil
      }
      at += 1
    }
    return (members, spareCommas)
  }
}
