/// Channels' names as the command line takes them, with commas between: a name with a comma stands in quotation marks,
/// which are doubled inside.
package enum ChannelNames {
  /// Returns the parts of a list, with the quotation marks of quoted ones; nil if the text is not a list.
  package static func list(_ text: String) -> [String]? {
    var parts: [String] = []
    var rest = text[...]
    while true {
      rest = rest.drop { $0 == " " }
      var part = rest.prefix { $0 != "," }
      if rest.first == "\"" {
        guard let end = endOfQuoted(rest) else { return nil }
        part = rest[..<end]
      }
      let behind = rest[part.endIndex...].drop { $0 == " " }
      guard !part.isEmpty, part != "\"\"", behind.isEmpty || behind.first == "," else { return nil }
      parts.append(String(part))
      if behind.isEmpty { return parts }
      rest = behind.dropFirst()
    }
  }

  private static func endOfQuoted(_ text: Substring) -> String.Index? {
    var place = text.index(after: text.startIndex)
    while let mark = text[place...].firstIndex(of: "\"") {
      place = text.index(after: mark)
      guard place < text.endIndex, text[place] == "\"" else { return place }
      place = text.index(after: place)
    }
    return nil
  }

  /// Returns the name in quotation marks; nil if the part has none, and may be a number.
  static func unquoted(_ part: String) -> String? {
    guard part.count >= 2, part.first == "\"", part.last == "\"" else { return nil }
    return String(part.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  static func quotedIfNeeded(_ name: String) -> String {
    guard name.contains(",") || name.first == "\"" else { return name }
    return "\"" + name.replacing("\"", with: "\"\"") + "\""
  }
}
