/// Descriptions as scanners and programs write them into each picture of a file: XML, JSON, and lines of `key: value` or of
/// words.
///
/// They come from strangers, one for each of thousands of pictures: every byte is looked at a few times and no more.
extension PictureRole {
  /// The role of which a description tells in a line of its own, as Aperio's `label 387x463`, or in a field that is the
  /// picture's type, as `<ImageType>Label</ImageType>` of Akoya's QPTIFF or `ImageType: ORIGINAL\PRIMARY\LABEL\NONE`.
  init?(describedBy description: String) {
    let text = Array(description.utf8.prefix(1 << 20))
    let isXML = text.first { $0 > 0x20 } == UInt8(ascii: "<")
    guard let role = isXML ? Self.role(ofXML: text[...]) : Self.role(ofLines: text[...]) else { return nil }
    self = role
  }

  private typealias Bytes = ArraySlice<UInt8>

  /// Keys whose value says what a picture is, in lower case and without what is no letter.
  private static let typeKeys: Set<String> = Set(
    ["image", "picture", "series", "page", "associatedimage"].flatMap { picture in
      ["type", "kind", "role", "name"].map { picture + $0 }
    } + ["type", "kind", "role", "name", "image", "picture", "content", "associated", "associatedimage"])

  // MARK: XML

  /// The type that the text has in one place. A text with several describes other pictures, too.
  private static func role(ofXML text: Bytes) -> PictureRole? {
    var types: [Substring] = []
    var others: [Substring] = []
    var rest = text
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...].dropFirst()
      let name = localName(&rest)
      let tag = rest.prefix { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
      rest = rest[tag.endIndex...]
      for (key, value) in attributes(tag) {
        if key == "imagetype" {
          types.append(value)
        } else if ["type", "kind", "role", "name"].contains(key), typeKeys.contains(name + key) {
          others.append(value)
        }
      }
      guard rest.first == UInt8(ascii: ">"), tag.last != UInt8(ascii: "/"),
        ["imagetype", "type", "picturetype"].contains(name)
      else { continue }
      let value = content(rest.dropFirst())
      // The element of the picture itself comes first.
      if name == "imagetype" { return PictureRole(type: value) }
      others.append(value)
    }
    for values in [types, others] where values.count == 1 {
      if let role = PictureRole(type: values[0]) { return role }
    }
    return nil
  }

  /// Takes an element's name, in lower case, without its namespace's prefix.
  private static func localName(_ rest: inout Bytes) -> String {
    let name = rest.prefix { $0 > 0x20 && !">/<=".utf8.contains($0) }
    rest = rest[name.endIndex...]
    return string(name.split(separator: UInt8(ascii: ":")).last ?? name).lowercased()
  }

  private static func attributes(_ tag: Bytes) -> [(key: String, value: Substring)] {
    var (found, rest): ([(String, Substring)], Bytes) = ([], tag)
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let before = rest[..<equals].reversed().drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
      var key = Array(before.reversed())[...]
      rest = rest[equals...].dropFirst().drop { $0 <= 0x20 }
      guard let quote = rest.first, quote == 0x22 || quote == 0x27 else { continue }
      let value = rest.dropFirst().prefix { $0 != quote }
      rest = rest[value.endIndex...].dropFirst()
      found.append((localName(&key), string(value)))
    }
    return found
  }

  /// The text of an element that has no other ones.
  private static func content(_ rest: Bytes) -> Substring {
    let mark = Array("<![CDATA[".utf8)
    let rest = rest.drop { $0 <= 0x20 }.prefix(1000)
    let text =
      rest.starts(with: mark) ? rest.dropFirst(mark.count).prefix { $0 != UInt8(ascii: "]") } : rest
    return string(text.prefix { $0 != UInt8(ascii: "<") })
  }

  // MARK: Lines

  private static func role(ofLines text: Bytes) -> PictureRole? {
    let separators = Set("\n\r,{};".utf8)
    for part in text.split(whereSeparator: { separators.contains($0) }) where mayTellOfRole(part) {
      guard let at = part.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }) else {
        continue
      }
      let key = String(
        decoding: part[..<at].prefix(100).filter { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }.map {
          $0 | 0x20
        },
        as: UTF8.self)
      guard typeKeys.contains(key) else { continue }
      let value = string(part[part.index(after: at)...]).drop { $0.isWhitespace || "\"'[".contains($0) }
      if let role = PictureRole(type: value) { return role }
    }
    for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) where mayTellOfRole(line) {
      // What follows are settings: Aperio's `|AppMag = 20`, Philips' ` -offset=(0,0)`.
      let start = line.prefix { $0 != UInt8(ascii: "|") && $0 != UInt8(ascii: "=") }
      let isCut = start.endIndex < line.endIndex && line[start.endIndex] == UInt8(ascii: "=")
      let name = string(start)
      if let head = isCut ? withoutSetting(name) : name, !head.contains(":"),
        let role = PictureRole(named: head)
      {
        return role
      }
    }
    return nil
  }

  /// The name in front of the last setting, ` -key`; nil if there is none.
  private static func withoutSetting(_ name: Substring) -> Substring? {
    guard let dash = name.lastIndex(of: "-"), dash > name.startIndex,
      name[name.index(before: dash)].isWhitespace, name.index(after: dash) < name.endIndex,
      name[dash...].dropFirst().allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    return name[..<name.index(before: dash)]
  }

  /// Whether the text has one of the words in it, in any case: most have none.
  private static func mayTellOfRole(_ text: Bytes) -> Bool {
    for start in text.indices {
      let first = text[start] | 0x20
      for word in roleWords where first == word[0] {
        if text[start...].prefix(word.count).elementsEqual(word, by: { $0 | 0x20 == $1 }) { return true }
      }
    }
    return false
  }

  private static let roleWords = [
    "label", "macro", "overview", "barcode", "thumbnail", "localizer", "reduced", "etiket",
  ].map { Array($0.utf8) }

  private static func string(_ bytes: Bytes) -> Substring { String(decoding: bytes, as: UTF8.self)[...] }
}
