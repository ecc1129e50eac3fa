/// A JSON document without a type of its own, for reading by look-up, and for writing as a literal.
///
/// JSON that is requested thousands of times a second is a `JSONWriter`; JSON with a type is `Codable` itself. Not for
/// untrusted JSON: the deeper a value lies, the more its decoding costs.
package enum JSONValue: Hashable, Sendable {
  case null
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  /// A member of an object; nil if it is missing. Setting makes any other value an object.
  package subscript(name: String) -> JSONValue? {
    get { members?[name] }
    set {
      var members = members ?? [:]
      members[name] = newValue
      self = .object(members)
    }
  }

  package var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
  package var elements: [JSONValue]? { if case .list(let elements) = self { elements } else { nil } }
  package var string: String? { if case .text(let text) = self { text } else { nil } }
}

extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let integer = try? value.decode(Int.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let list = try? value.decode([JSONValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .flag(let flag): try value.encode(flag)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let object): try value.encode(object)
    }
  }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .text(text) }
  package init(integerLiteral integer: Int) { self = .integer(integer) }
  package init(arrayLiteral list: JSONValue...) { self = .list(list) }
  package init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(Dictionary(members) { _, last in last })
  }
}
