import ZigguratTileServing

/// A type whose values are written as text in an option.
protocol TextParsable: Sendable {
  /// Parses the text of an option; nil if it is invalid.
  init?(_ text: String)
}

extension TrustedProxies: TextParsable {}
extension AllowedHosts: TextParsable {}
extension AllowedOrigins: TextParsable {}
extension FrameAncestors: TextParsable {}

/// The value of an option with its original text. It is encoded as the text.
struct TextValue<Value: TextParsable>: Codable, Equatable, Sendable {
  let text: String
  let value: Value

  init?(_ text: String) {
    guard let value = Value(text) else { return nil }
    self.text = text
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = TextValue(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a \(Value.self)")
    }
    self = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  static func == (a: TextValue, b: TextValue) -> Bool { a.text == b.text }
}
