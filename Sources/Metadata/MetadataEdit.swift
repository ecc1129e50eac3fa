import Foundation
import ZigguratFiles

/// An edit of an image's metadata; nil keeps a field, and an empty value clears it.
package struct MetadataEdit: Hashable, Sendable, Codable {
  package var title: String?
  package var caption: String?
  package var keywords: [String]?

  /// The invalid values of an edit.
  package struct ValidationError: Error, Hashable {
    package struct Problem: Hashable, Sendable {
      /// Names and numbers of the path to the value in the body.
      package let members: [String]
      package let reason: String
    }

    package let problems: [Problem]

    package var reason: String { problems.map(\.reason).joined(separator: "; ") }
  }

  /// A value before its field is known.
  private enum Field: Decodable {
    case null
    case text(String)
    /// A list, with nil for an element that is not a text. Incomplete if there are too many elements.
    case list([String?])
    case other

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let text = try? value.decode(String.self) {
        self = .text(text)
      } else if var list = try? decoder.unkeyedContainer() {
        self = .list(Self.texts(&list))
      } else {
        self = .other
      }
    }

    /// Reads no more than is necessary to refuse the list, and decodes no nested element. Each one that is not a text
    /// costs an error. The deeper it lies, the more it costs.
    private static func texts(_ list: inout any UnkeyedDecodingContainer) -> [String?] {
      var texts: [String?] = []
      while !list.isAtEnd, texts.count <= maxKeywords {
        if (try? list.decodeNil()) == true {
          texts.append("")
        } else {
          let text = try? list.decode(String.self)
          texts.append(text)
          if text == nil { break }
        }
      }
      return texts
    }

    var text: String? {
      switch self {
      case .null: ""
      case .text(let text): text
      case .list, .other: nil
      }
    }

    var list: [String?]? {
      switch self {
      case .null: []
      case .list(let list): list
      case .text, .other: nil
      }
    }
  }

  /// An object. The names of members that cannot be changed are read, but not their values.
  private struct Body: Decodable {
    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    var fields: [String: Field] = [:]

    init(from decoder: any Decoder) throws {
      let object = try decoder.container(keyedBy: Name.self)
      for name in object.allKeys {
        let isKnown = ["title", "caption", "keywords"].contains(name.stringValue)
        fields[name.stringValue] = isKnown ? try object.decode(Field.self, forKey: name) : .other
      }
    }
  }

  /// The maximum length of each field in characters, and the maximum number of keywords.
  static let (maxTitleLength, maxCaptionLength, maxKeywordLength, maxKeywords) = (1000, 20_000, 200, 500)

  /// Parses `{"title": …, "caption": …, "keywords": […]}`, at least one of them; null clears a field.
  package init(json: [UInt8]) throws(ValidationError) {
    guard let object = try? InputLimit.request.json.decode(Body.self, from: json).fields else {
      throw ValidationError(problems: [
        ValidationError.Problem(members: [], reason: "the body is no JSON object")
      ])
    }
    var problems: [ValidationError.Problem] = []
    func refuse(_ members: [String], _ reason: String) {
      problems.append(ValidationError.Problem(members: members, reason: reason))
    }
    func taken(
      _ given: String?, _ members: [String], _ name: String, _ longest: Int, lines: Bool
    ) -> String? {
      switch Self.text(given, name, longest, lines: lines) {
      case .success(let text): return text
      case .failure(let invalid):
        refuse(members, invalid.reason)
        return nil
      }
    }
    // Sorted, so that errors have a fixed order.
    for (name, value) in object.sorted(by: { $0.key < $1.key }) {
      switch name {
      case "title": title = taken(value.text, [name], name, Self.maxTitleLength, lines: false)
      case "caption": caption = taken(value.text, [name], name, Self.maxCaptionLength, lines: true)
      case "keywords":
        guard let list = value.list, list.count <= Self.maxKeywords else {
          refuse([name], "keywords takes a list of at most \(Self.maxKeywords) texts")
          continue
        }
        var keywords: [String] = []
        for (at, each) in list.enumerated() {
          let keyword =
            taken(each, [name, String(at)], "a keyword", Self.maxKeywordLength, lines: false) ?? ""
          if !keyword.isEmpty, !keywords.contains(keyword) { keywords.append(keyword) }
        }
        self.keywords = keywords
      default: refuse([name], "'\(name.prefix(40))' cannot be changed; title, caption and keywords can")
      }
    }
    if object.isEmpty { refuse([], "no field is given: title, caption or keywords") }
    if !problems.isEmpty { throw ValidationError(problems: problems) }
  }

  /// The reason why a text is invalid.
  private struct Invalid: Error {
    let reason: String
  }

  private static func text(
    _ given: String?, _ name: String, _ longest: Int, lines: Bool
  ) -> Result<String, Invalid> {
    guard let given else { return .failure(Invalid(reason: "\(name) takes a text")) }
    var text = given.replacing("\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    // Characters that XML 1.0 does not allow (section 2.2), and line breaks in single-line fields.
    let isHeld = text.unicodeScalars.allSatisfy {
      switch $0.value {
      case 0x9, 0xa: lines
      case 0..<0x20, 0x7f..<0xa0, 0xfffe, 0xffff: false
      default: true
      }
    }
    guard isHeld else { return .failure(Invalid(reason: "\(name) holds a control character")) }
    text = MetadataFile.trimmed(text)
    guard text.count <= longest, text.utf8.count <= longest * 4 else {
      return .failure(Invalid(reason: "\(name) takes at most \(longest) characters"))
    }
    return .success(text)
  }
}
