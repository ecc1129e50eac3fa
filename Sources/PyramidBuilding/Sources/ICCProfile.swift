/// The words in an ICC profile's header and tags (ICC.1:2010, 7).
struct ICCProfile {
  /// Of the colours that it explains: `RGB `, `GRAY`, `CMYK`, `Lab `.
  let colourSpace: String
  /// Its name, as editors show it; nil where it has none that can be read.
  let description: String?

  /// Nil where the bytes are no profile.
  init?(_ bytes: [UInt8]) {
    func number(_ at: Int) -> Int? {
      guard at >= 0, at + 4 <= bytes.count else { return nil }
      return bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    func text(_ at: Int) -> String? {
      at + 4 <= bytes.count ? String(decoding: bytes[at..<at + 4], as: UTF8.self) : nil
    }
    guard text(36) == "acsp", let space = text(16), let count = number(128), count <= 1000 else { return nil }
    colourSpace = space
    var found: String?
    for tag in 0..<count {
      let at = 132 + 12 * tag
      guard text(at) == "desc", let start = number(at + 4), let type = text(start) else { continue }
      if type == "desc", let length = number(start + 8), length > 0, start + 12 + length <= bytes.count {
        found = String(decoding: bytes[start + 12..<start + 12 + length].prefix { $0 != 0 }, as: UTF8.self)
      } else if type == "mluc", let length = number(start + 20), let offset = number(start + 24),
        start + offset + length <= bytes.count
      {
        let units = stride(from: start + offset, to: start + offset + length - 1, by: 2)
          .map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        found = String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
      }
    }
    // Of a stranger's making, and shown in terminals.
    let name = String(
      found?.unicodeScalars.filter { $0.properties.generalCategory != .control } ?? "".unicodeScalars)
    description = name.isEmpty ? nil : String(name.prefix(80))
  }
}
