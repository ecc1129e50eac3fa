package import Foundation

/// Limits of untrusted JSON, checked before it is decoded: a decoder allocates many bytes for each value.
package struct JSONLimits: Hashable, Sendable {
  /// The maximum size of the text in bytes.
  package let bytes: Int
  /// The maximum nesting depth of arrays and objects.
  package let depth: Int
  /// The maximum number of values, counted as commas, brackets and one.
  package let values: Int

  package init(bytes: Int, depth: Int, values: Int) {
    self.bytes = bytes
    self.depth = depth
    self.values = values
  }

  /// The reason why a text is not decoded, in a clause.
  package struct ValidationError: Error, Hashable, CustomStringConvertible {
    package let description: String
  }

  /// Decodes a text within the limits.
  /// - Throws: `ValidationError`, or what the decoder throws.
  package func decode<Value: Decodable>(_ type: Value.Type, from json: Data) throws -> Value {
    if let refusal = json.withUnsafeBytes({ refusal(of: $0) }) { throw refusal }
    return try JSONDecoder().decode(type, from: json)
  }

  /// Decodes a text within the limits.
  package func decode<Value: Decodable>(_ type: Value.Type, from json: some Sequence<UInt8>) throws -> Value {
    try decode(type, from: Data(json))
  }

  /// Decodes bytes within the limits without copying them first.
  package func decode<Value: Decodable>(_ type: Value.Type, from json: UnsafeRawBufferPointer) throws -> Value
  {
    if let refusal = refusal(of: json) { throw refusal }
    return try JSONDecoder().decode(type, from: Data(json))
  }

  /// Returns why the text exceeds the limits; nil if it does not. The text may still be invalid JSON.
  package func refusal(of json: UnsafeRawBufferPointer) -> ValidationError? {
    guard json.count <= bytes else { return ValidationError(description: "has more than \(bytes) bytes") }
    var (depth, count) = (0, 1)
    var (isString, isEscaped) = (false, false)
    for byte in json {
      // UTF-16 and UTF-32, which the decoder would also accept. Their quotes are not where this function looks for
      // them.
      if byte == 0 || byte >= 0xfe { return ValidationError(description: "is not UTF-8") }
      if isString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isString = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): (depth, count) = (depth + 1, count + 1)
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ","): count += 1
      default: break
      }
      if depth > self.depth { return ValidationError(description: "has more than \(self.depth) levels") }
      if count > values { return ValidationError(description: "has more than \(values) values") }
    }
    return nil
  }
}
