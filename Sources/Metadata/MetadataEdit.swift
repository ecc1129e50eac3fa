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

  /// A value as it came, before it is known for which field.
  private enum Field: Decodable {
    case null
    case text(String)
    /// Nil is what is no text. Not all where they are too many.
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

    /// Goes no further than it takes to refuse, and looks into no element: each that is no text costs an error, which
    /// costs the more the deeper it lies.
    private static func texts(_ list: inout any UnkeyedDecodingContainer) -> [String?] {
      var texts: [String?] = []
      while !list.isAtEnd, texts.count <= mostKeywords {
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

  /// An object; what members are called that cannot be changed is all that is read of them.
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

  /// Characters of each field, and how many keywords.
  static let (longestTitle, longestCaption, longestKeyword, mostKeywords) = (1000, 20_000, 200, 500)

  /// `{"title": …, "caption": …, "keywords": […]}`, at least one of them; null empties a field.
  package init(json: [UInt8]) throws(Refusal) {
    guard let object = try? JSONDecoder().decode(Body.self, from: Data(json)).fields else {
      throw Refusal(reason: "the body is no JSON object")
    }
    for (name, value) in object {
      switch name {
      case "title": title = try Self.text(value.text, name, Self.longestTitle, lines: false)
      case "caption": caption = try Self.text(value.text, name, Self.longestCaption, lines: true)
      case "keywords":
        guard let list = value.list, list.count <= Self.mostKeywords else {
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
    _ given: String?, _ name: String, _ longest: Int, lines: Bool
  ) throws(Refusal) -> String {
    guard let given else { throw Refusal(reason: "\(name) takes a text") }
    var text = given.replacing("\r\n", with: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
    // What XML 1.0 cannot hold (section 2.2), and line breaks where a line is meant.
    let isHeld = text.unicodeScalars.allSatisfy {
      switch $0.value {
      case 0x9, 0xa: lines
      case 0..<0x20, 0x7f..<0xa0, 0xfffe, 0xffff: false
      default: true
      }
    }
    guard isHeld else { throw Refusal(reason: "\(name) holds a control character") }
    text = MetadataFile.trimmed(text)
    guard text.count <= longest, text.utf8.count <= longest * 4 else {
      throw Refusal(reason: "\(name) takes at most \(longest) characters")
    }
    return text
  }
}
