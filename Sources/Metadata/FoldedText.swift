import Foundation

/// The normalized form in which keys and values of descriptions are compared, independent of their spelling and
/// encoding.
package enum FoldedText {
  /// Returns the text in compatibility form, without diacritics and invisible characters. Case is kept.
  package static func folded(_ text: some StringProtocol) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return String(text) }
    var scalars = String.UnicodeScalarView()
    for scalar in String(text).decomposedStringWithCompatibilityMapping.unicodeScalars {
      switch scalar.value {
      // Combining marks, soft hyphens, joiners, directions and byte order marks.
      case 0x300...0x36f, 0xad, 0x200b...0x200f, 0x2060, 0xfeff: continue
      default:
        // Letters without a decomposition.
        if let letters = Self.letters[scalar] {
          scalars.append(contentsOf: letters.unicodeScalars)
        } else {
          scalars.append(scalar)
        }
      }
    }
    return String(scalars).precomposedStringWithCanonicalMapping
  }

  private static let letters: [Unicode.Scalar: String] = [
    "Ø": "O", "ø": "o", "Æ": "AE", "æ": "ae", "Œ": "OE", "œ": "oe", "ß": "ss", "Ł": "L", "ł": "l", "ı": "i",
    "Đ": "D", "đ": "d",
  ]

  /// Returns the letters of a key, folded and in lower case: `Image-Type` and `image_type` are one key.
  package static func key(_ text: some StringProtocol) -> String {
    folded(unescaped(text)).lowercased().filter(\.isLetter)
  }

  /// Returns a value with its references to characters resolved, folded. Case is kept.
  package static func value(_ text: some StringProtocol) -> String { folded(unescaped(text)) }

  /// The maximum length of a reference behind `&`, in characters.
  private static let maxReferenceLength = 12

  /// Returns the text with references to characters resolved, as in XML (`&#76;`, `&amp;`) and JSON (`\u004c`).
  private static func unescaped(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "\\") }) else {
      return String(text)
    }
    var result = ""
    var rest = Substring(text)
    while let start = rest.firstIndex(where: { $0 == "&" || $0 == "\\" }) {
      result += rest[..<start]
      rest = rest[start...]
      let (found, length) = rest.first == "&" ? entity(rest) : escape(rest)
      result += found ?? String(rest.prefix(1))
      rest = rest.dropFirst(found == nil ? 1 : length)
    }
    return result + rest
  }

  private static func entity(_ text: Substring) -> (String?, Int) {
    let name = text.dropFirst().prefix(maxReferenceLength).prefix { $0 != ";" }
    guard name.endIndex < text.endIndex, text[name.endIndex] == ";" else { return (nil, 0) }
    let length = name.count + 2
    if let known = entities[name] { return (known, length) }
    guard name.first == "#" else { return (nil, 0) }
    let digits = name.dropFirst()
    let code =
      digits.first.map { "xX".contains($0) } == true ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return (code.flatMap(Unicode.Scalar.init).map { String($0) }, length)
  }

  private static let entities: [Substring: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ",
  ]

  private static func escape(_ text: Substring) -> (String?, Int) {
    let digits = text.dropFirst(2).prefix(4)
    guard text.dropFirst().first == "u", digits.count == 4, let code = UInt32(digits, radix: 16) else {
      return (nil, 0)
    }
    return (Unicode.Scalar(code).map { String($0) }, 6)
  }
}
