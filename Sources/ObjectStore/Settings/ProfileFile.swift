/// A file of the AWS tools with credentials or settings. It has profiles in brackets, with names and values. A value
/// can consist of names and values in indented lines.
struct ProfileFile: Equatable {
  /// The values by profile and name. An indented name is `name.inner`.
  private var values: [String: [String: String]] = [:]

  init(_ text: String) {
    var (profile, outer): (String?, String?) = (nil, nil)
    // "\r\n" is one character.
    for line in text.split(whereSeparator: \.isNewline) {
      let isIndented = line.first?.isWhitespace == true
      let content = Self.trimmed(line)
      guard let first = content.first, first != "#", first != ";" else { continue }
      if first == "[" {
        profile = content.last == "]" ? Self.profile(content.dropFirst().dropLast()) : nil
        outer = nil
        continue
      }
      guard let profile, let equals = content.firstIndex(of: "=") else { continue }
      let name = Self.trimmed(content[..<equals]).lowercased()
      let value = Self.trimmed(content[content.index(after: equals)...])
      if isIndented, let outer {
        values[profile, default: [:]]["\(outer).\(name)"] = String(value)
      } else if !isIndented {
        outer = value.isEmpty ? name : nil
        values[profile, default: [:]][name] = value.isEmpty ? nil : String(value)
      }
    }
  }

  subscript(profile: String, name: String) -> String? { values[profile]?[name] }

  func has(_ profile: String) -> Bool { values[profile] != nil }

  /// Returns the name of the profile in `[default]`, `[NAME]` (credentials) or `[profile NAME]` (settings). Nil for
  /// other headings, such as `[services …]`.
  private static func profile(_ heading: Substring) -> String? {
    let parts = heading.split(whereSeparator: \.isWhitespace)
    return switch parts.count {
    case 1: String(parts[0])
    case 2 where parts[0] == "profile": String(parts[1])
    default: nil
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return start[...end]
  }
}
