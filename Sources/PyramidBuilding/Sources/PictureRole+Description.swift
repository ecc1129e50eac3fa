import ZigguratMetadata

/// Descriptions that scanners and programs write into each picture of a file: XML, JSON, lines of `key: value`, and
/// free text.
///
/// Descriptions are untrusted, and a file may have thousands of them: every byte is read only a few times.
extension PictureRole {
  /// Maximum bytes of a description that are read.
  private static let maxDescriptionLength = 1 << 20

  /// Finds the role in a line of its own, as Aperio's `label 387x463`, or in a field for the picture's type. Examples
  /// are `<ImageType>Label</ImageType>` of Akoya's QPTIFF and `ImageType: ORIGINAL\PRIMARY\LABEL\NONE`.
  init?(describedBy description: String) {
    let start = String(decoding: description.utf8.prefix(Self.maxDescriptionLength), as: UTF8.self)
    let text = Array(FoldedText.folded(start).utf8)
    guard let first = text.firstIndex(of: UInt8(ascii: "<")) else {
      guard let role = Self.role(ofLines: text[...]) else { return nil }
      self = role
      return
    }
    let isXML = text[..<first].allSatisfy { $0 <= 0x20 }
    guard let role = (isXML ? nil : Self.role(ofLines: text[...])) ?? Self.role(ofXML: text[first...]) else {
      return nil
    }
    self = role
  }

  /// Whether `init(describedBy:)` may miss a role, because the description is too long, or has undecodable or escaped
  /// characters.
  static func isUnreadable(_ description: String) -> Bool {
    if description.utf8.count > maxDescriptionLength { return true }
    return description.unicodeScalars.contains("\u{fffd}") || description.contains("<!ENTITY")
  }

  private typealias Bytes = ArraySlice<UInt8>

  private static let kinds: Set<String> = ["type", "kind", "role", "name", "flavor", "flavour"]

  /// Keys of the picture's type, in the form of `FoldedText.key`.
  private static let typeKeys: Set<String> = Set(
    ["image", "picture", "series", "page", "associatedimage"].flatMap { picture in kinds.map { picture + $0 }
    }
      + kinds + ["image", "picture", "content", "associated", "associatedimage"])

  /// Suffixes of keys that have no other meaning, with any prefix: `PIM_DP_IMAGE_TYPE`.
  private static let certainEndings = ["type", "flavor", "flavour", "kind", "role"]

  private static func isCertain(_ key: String) -> Bool {
    certainEndings.contains { key.hasSuffix("image" + $0) }
  }

  /// Keys for the name in a pair of a field's name and its value.
  private static let nameKeys: Set<String> = [
    "name", "key", "id", "tag", "property", "field", "attribute", "label",
  ]
  private static let valueKeys: Set<String> = ["value", "values", "val", "text", "string", "data", "content"]

  /// Returns the role in the value of a field that can only be a picture's type.
  private static func role(ofCertain value: some StringProtocol) -> PictureRole? {
    let value = String(value)
    if let role = PictureRole(type: value) ?? PictureRole(inOtherWords: value) { return role }
    return PictureRole(mentionedIn: value)
  }

  // MARK: XML

  /// Returns the role if the text has one type. A text with several types describes other pictures, too.
  private static func role(ofXML text: Bytes) -> PictureRole? {
    var types: [String] = []
    var others: [String] = []
    // Text outside of tags, comments and character data, one line each.
    var lines: [UInt8] = []
    // The type element with its value in a child element; whether the name precedes the value.
    var (open, isNamed) = (nil as String?, false)
    var rest = text
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...].dropFirst()
      let isEnd = rest.first == UInt8(ascii: "/")
      if isEnd { rest = rest.dropFirst() }
      let isNoElement = rest.first == UInt8(ascii: "!")
      let name = localName(&rest)
      let tag = rest.prefix { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
      rest = rest[tag.endIndex...]
      let inner = rest.dropFirst().prefix { $0 != UInt8(ascii: "<") }
      for line in [isNoElement ? tag : [], inner] where line.contains(where: { $0 > 0x20 }) {
        lines += line + [0x0a]
      }
      if isEnd {
        if open == name { open = nil }
        continue
      }
      var (isLabelled, paired) = (false, nil as String?)
      for (key, value) in attributes(tag) {
        if isCertain(key) {
          types.append(value)
        } else if kinds.contains(key), typeKeys.contains(name + key) {
          others.append(value)
        }
        if nameKeys.contains(key), isCertain(FoldedText.key(value)) { isLabelled = true }
        if valueKeys.contains(key) { paired = value }
      }
      if isLabelled, let paired { types.append(paired) }
      guard rest.first == UInt8(ascii: ">"), tag.last != UInt8(ascii: "/") else { continue }
      let value = content(rest.dropFirst())
      let isBlank = value.allSatisfy(\.isWhitespace)
      if isLabelled, paired == nil { if isBlank { isNamed = true } else { types.append(value) } }
      if isCertain(name) {
        guard !isBlank else {
          open = name
          continue
        }
        // The element of the picture itself comes first.
        if name == "imagetype" { return role(ofCertain: value) }
        types.append(value)
      } else if !isBlank, open != nil || isNamed {
        types.append(value)
        open = nil
        isNamed = false
      } else if nameKeys.contains(name), isCertain(FoldedText.key(value)) {
        isNamed = true
      } else if ["type", "picturetype"].contains(name) {
        others.append(value)
      }
    }
    if let role = common(types.map { role(ofCertain: $0) }) ?? common(others.map { PictureRole(type: $0) }) {
      return role
    }
    guard types.isEmpty else { return nil }
    return role(ofLines: Array(FoldedText.value(string(lines[...])).utf8)[...], onlyCertain: true)
  }

  /// Returns the role that all have; nil if there is none, or they differ.
  private static func common(_ roles: [PictureRole?]) -> PictureRole? {
    guard let first = roles.first, roles.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// Removes and returns an element's name without its namespace prefix, in the form of `FoldedText.key`.
  private static func localName(_ rest: inout Bytes) -> String {
    let name = rest.prefix { $0 > 0x20 && !">/<=".utf8.contains($0) }
    rest = rest[name.endIndex...]
    return FoldedText.key(string(name.split(separator: UInt8(ascii: ":")).last ?? name))
  }

  private static func attributes(_ tag: Bytes) -> [(key: String, value: String)] {
    var (found, rest): ([(String, String)], Bytes) = ([], tag)
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let before = rest[..<equals].reversed().drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
      var key = Array(before.reversed())[...]
      rest = rest[equals...].dropFirst().drop { $0 <= 0x20 }
      let quote = rest.first.flatMap { $0 == 0x22 || $0 == 0x27 ? $0 : nil }
      if quote != nil { rest = rest.dropFirst() }
      let value = rest.prefix { quote == nil ? $0 > 0x20 && $0 != UInt8(ascii: "/") : $0 != quote }
      rest = rest[value.endIndex...].dropFirst()
      found.append((localName(&key), FoldedText.value(string(value.prefix(maxValueLength)))))
    }
    return found
  }

  private static let maxValueLength = 1000

  /// Returns the text of an element without child elements.
  private static func content(_ rest: Bytes) -> String {
    let mark = Array("<![CDATA[".utf8)
    let rest = rest.drop { $0 <= 0x20 }.prefix(maxValueLength)
    let text =
      rest.starts(with: mark) ? rest.dropFirst(mark.count).prefix { $0 != UInt8(ascii: "]") } : rest
    return FoldedText.value(string(text.prefix { $0 != UInt8(ascii: "<") }))
  }

  // MARK: Lines

  private static func role(ofLines text: Bytes, onlyCertain: Bool = false) -> PictureRole? {
    let separators = Set("\n\r,{};|".utf8)
    var fields = FieldReader(onlyCertain: onlyCertain)
    for part in text.split(whereSeparator: { separators.contains($0) }) {
      if let role = fields.role(of: part) { return role }
    }
    if onlyCertain { return nil }
    for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) where mayNameRole(line) {
      // Settings follow: Aperio's `|AppMag = 20`, Philips' ` -offset=(0,0)`.
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

  /// Reads fields of lines and of JSON. A value may be a list over several parts, or be in another field than its name.
  private struct FieldReader {
    let onlyCertain: Bool
    /// The field with a list that the next parts continue.
    private var list: (isCertain: Bool, brackets: Int)?
    /// A value that precedes its name.
    private var unnamed: String?

    init(onlyCertain: Bool) { self.onlyCertain = onlyCertain }

    /// - Parameter part: the text between two separators of fields or of list elements.
    mutating func role(of part: Bytes) -> PictureRole? {
      let part = part.drop { $0 <= 0x20 }
      guard !part.isEmpty else { return nil }
      if let (value, isSeparated) = PictureRole.certainValue(part) {
        list = (true, 0)
        // In a pair of a name and a value, the value may come first.
        if PictureRole.isBlank(value), let role = unnamed.flatMap({ PictureRole.role(ofCertain: $0) }) {
          return role
        }
        return role(ofValue: value, isSeparated: isSeparated)
      }
      guard let at = part.firstIndex(where: { PictureRole.fieldSeparators.contains($0) }) else {
        return role(ofValue: part)
      }
      let key = FoldedText.key(PictureRole.string(part[..<at].suffix(100)))
      let value = part[part.index(after: at)...]
      if PictureRole.valueKeys.contains(key), list?.isCertain == true {
        list = (true, 0)
        return role(ofValue: value)
      }
      // DICOM's value representation is between the tag and the value.
      if key == "vr", list != nil { return nil }
      list = nil
      if PictureRole.nameKeys.contains(key) { unnamed = nil }
      if PictureRole.valueKeys.contains(key) { unnamed = PictureRole.trimmed(value) }
      guard !onlyCertain, PictureRole.typeKeys.contains(key) else { return nil }
      // The first of several names is the picture's own.
      let isType = ["type", "kind", "role", "flavor", "flavour"].contains { key.hasSuffix($0) }
      list = (false, 0)
      let role = role(ofValue: value)
      if !isType, !PictureRole.isBlank(value) { list = nil }
      return role
    }

    private mutating func role(ofValue value: Bytes, isSeparated: Bool = true) -> PictureRole? {
      guard let (isCertain, before) = list else { return nil }
      let text = PictureRole.trimmed(value)
      let role =
        isCertain && isSeparated ? PictureRole.role(ofCertain: text) : PictureRole(type: text)
      let opened = value.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "(") }
      let closed = value.count { $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: ")") }
      let brackets = max(0, before + opened - closed)
      let isItem = value.first { $0 > 0x20 } == UInt8(ascii: "-")
      list = brackets > 0 || isItem || PictureRole.isBlank(value) ? (isCertain, brackets) : nil
      return role
    }
  }

  private static let fieldSeparators = Set(":=\t".utf8)

  private static func isBlank(_ value: Bytes) -> Bool {
    value.allSatisfy { $0 <= 0x20 || "\"'[(".utf8.contains($0) }
  }

  private static func trimmed(_ value: Bytes) -> String {
    FoldedText.value(
      string(value.drop { $0 <= 0x20 || "\"'[(-".utf8.contains($0) }.prefix(maxValueLength)))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || byte >= 0x80
  }

  /// Whether a byte begins a value: a letter, a list or a character reference.
  private static func isStart(_ byte: UInt8) -> Bool { isLetter(byte) || "[(\\&".utf8.contains(byte) }

  /// Finds the value of a key that can only be a picture's type. The key may be anywhere in the part, with any
  /// separator: `Image Type -> LABEL`, DICOM's `0008) CS [ORIGINAL\PRIMARY\LABEL]`.
  ///
  /// - Returns: the value, and whether more than a blank separates it from the key; nil if there is no such key.
  private static func certainValue(_ part: Bytes) -> (Bytes, isSeparated: Bool)? {
    let start = part.drop { $0 <= 0x20 || "\"'(".utf8.contains($0) }
    for number in ["0008)", "00080008", "0008,0008"] where start.starts(with: number.utf8) {
      let value = start.dropFirst(number.utf8.count).drop { !isStart($0) }
      return (value.prefix(maxValueLength), true)
    }
    var rest = part
    while let found = position(of: image, in: rest) {
      rest = rest[(found + image.count)...]
      let end = rest.prefix(3).prefix { !isLetter($0) && !fieldSeparators.contains($0) }.endIndex
      let word = rest[end...].prefix(8).prefix { isLetter($0) }
      guard certainEndings.contains(string(word).lowercased()) else { continue }
      rest = rest[word.endIndex...]
      let gap = rest.prefix(16).prefix { !isLetter($0) && !(0x30...0x39 ~= $0) }
      let isSeparated = gap.contains { ":=\t#>/".utf8.contains($0) }
      let isFirst = !part[..<found].contains { isLetter($0) && $0 < 0x80 }
      if isSeparated || isFirst || gap.endIndex == part.endIndex { return (ofOneField(rest), isSeparated) }
    }
    return nil
  }

  private static let image = Array("image".utf8)

  /// Returns the value without the next field of its line: `Volume Barcode=12`.
  private static func ofOneField(_ rest: Bytes) -> Bytes {
    let value = rest.drop { !isStart($0) }.prefix(maxValueLength).prefix { $0 != UInt8(ascii: "<") }
    guard let next = value.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }) else {
      return value
    }
    let before: [UInt8] = value[..<next].reversed()
    let head: Bytes = before.drop { $0 <= 0x20 }.drop { $0 > 0x20 }.drop { $0 <= 0x20 }
    // A single item is DICOM's value representation, or the value itself.
    return head.isEmpty ? value : value.prefix(head.count)
  }

  /// Returns the position of `word`, given in lower case, in any case.
  private static func position(of word: [UInt8], in text: Bytes) -> Int? {
    var at = text.startIndex
    while at + word.count <= text.endIndex {
      if text[at] | 0x20 == word[0], text[at..<at + word.count].elementsEqual(word, by: { $0 | 0x20 == $1 }) {
        return at
      }
      at += 1
    }
    return nil
  }

  /// Returns the name before the last setting, ` -key`; nil if there is none.
  private static func withoutSetting(_ name: Substring) -> Substring? {
    guard let dash = name.lastIndex(of: "-"), dash > name.startIndex,
      name[name.index(before: dash)].isWhitespace, name.index(after: dash) < name.endIndex,
      name[dash...].dropFirst().allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    return name[..<name.index(before: dash)]
  }

  /// Whether the text contains the name of a role, in any case: most texts have none.
  private static func mayNameRole(_ text: Bytes) -> Bool {
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
