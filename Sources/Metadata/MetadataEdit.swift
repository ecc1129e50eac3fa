import Foundation

/// What somebody changes of an image's words; nil leaves a field as it is, and an empty one is emptied.
package struct MetadataEdit: Hashable, Sendable, Codable {
  package var title: String?
  package var caption: String?
  package var keywords: [String]?

  /// Why an edit is none.
  package struct Refusal: Error, Hashable {
    package let reason: String
  }

  /// Characters of each field, and how many keywords.
  static let (longestTitle, longestCaption, longestKeyword, mostKeywords) = (1000, 20_000, 200, 500)

  /// `{"title": …, "caption": …, "keywords": […]}`, at least one of them; null empties a field.
  package init(json: [UInt8]) throws(Refusal) {
    guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] else {
      throw Refusal(reason: "the body is no JSON object")
    }
    for (name, value) in object {
      switch name {
      case "title": title = try Self.text(value, name, Self.longestTitle, lines: false)
      case "caption": caption = try Self.text(value, name, Self.longestCaption, lines: true)
      case "keywords":
        guard let list = value is NSNull ? [] : value as? [Any], list.count <= Self.mostKeywords else {
          throw Refusal(reason: "keywords takes a list of at most \(Self.mostKeywords) texts")
        }
        var keywords: [String] = []
        for each in list {
          let keyword = try Self.text(each, "a keyword", Self.longestKeyword, lines: false)
          if !keyword.isEmpty, !keywords.contains(keyword) { keywords.append(keyword) }
        }
        self.keywords = keywords
      default:
        throw Refusal(reason: "'\(name.prefix(40))' cannot be changed; title, caption and keywords can")
      }
    }
    if object.isEmpty { throw Refusal(reason: "nothing is to be changed: title, caption or keywords") }
  }

  private static func text(
    _ value: Any, _ name: String, _ longest: Int, lines: Bool
  ) throws(Refusal) -> String {
    if value is NSNull { return "" }
    guard let value = value as? String else { throw Refusal(reason: "\(name) takes a text") }
    let text = value.replacing("\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    // What XML 1.0 cannot hold (section 2.2), and line breaks where a line is meant.
    let isHeld = text.unicodeScalars.allSatisfy {
      switch $0.value {
      case 0x9, 0xa: lines
      case 0..<0x20, 0x7f..<0xa0, 0xfffe, 0xffff: false
      default: true
      }
    }
    guard isHeld else { throw Refusal(reason: "\(name) holds a control character") }
    guard text.count <= longest, text.utf8.count <= longest * 4 else {
      throw Refusal(reason: "\(name) takes at most \(longest) characters")
    }
    return text
  }
}
