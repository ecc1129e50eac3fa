import Foundation

/// Text that programs write into caption fields. A scanner's, microscope's or camera's settings mean nothing to
/// readers, and a list of keys may name a patient.
package enum MachineText {
  /// Whether the text is a list of settings, a document, or a camera's filler.
  ///
  /// - Parameter isTitle: whether it is from a title field: makers' fillers are in caption fields alone.
  package static func isSuspected(_ text: String, isTitle: Bool = false) -> Bool {
    let text = text.prefix(MetadataEdit.maxCaptionLength).trimmingCharacters(
      in: .whitespacesAndNewlines.union(CharacterSet(charactersIn: "\u{feff}\0")))
    return !isTitle && isFiller(text) || isDocument(text) || namesPatient(text) || isListOfSettings(text)
  }

  /// Whether the text has a field about a patient or a case, or a person's name in DICOM's notation.
  package static func namesPatient(_ text: String) -> Bool {
    if hasPersonName(text) || text.contains(#/\(00[0-9A-Fa-f]{2},\s?[0-9A-Fa-f]{4}\)/#) { return true }
    return PatientText.isFound(in: text)
  }

  /// Whether the text has a name in DICOM's notation (PS3.5, section 6.2.1): `ROE^JANE`.
  private static func hasPersonName(_ text: String) -> Bool {
    var (letters, isAfterCaret) = (0, false)
    for character in text {
      if character.isLetter {
        if isAfterCaret { return true }
        letters += 1
      } else {
        isAfterCaret = character == "^" && letters >= 2
        letters = 0
      }
    }
    return false
  }

  /// Fillers of camera makers and programs, in lower case.
  private static let fillers: Set<String> = [
    "olympus digital camera", "sony dsc", "konica minolta digital camera", "minolta digital camera",
    "minolta dsc", "kodak digital still camera", "samsung digital camera", "samsung camera pictures",
    "samsung", "medion digital camera", "casio digital camera", "digital camera", "digital image",
    "exif_jpeg_picture", "exif jpeg", "exif_jpeg", "dcf 1.0", "jpeg", "default", "created with gimp",
    "created with the gimp", "user comments", "screenshot", "ascii", "hisilicon k3",
    "cof", "dav", "edf", "hdr", "hdrpl", "mde", "nor", "oznor", "oznorw", "ptr", "rbt", "sdr",
  ]

  private static func isFiller(_ text: String) -> Bool {
    fillers.contains(text.lowercased())
      || text.wholeMatch(of: #/<(Digimax|KENOX|Samsung)[^>]*>|oplus_\d+|vivo_\w+/#.ignoresCase()) != nil
  }

  /// Whether the text is XML or JSON, truncated or not. People write HTML, too.
  private static func isDocument(_ text: String) -> Bool {
    if text.hasPrefix("<?xml") || text.hasPrefix("<!DOCTYPE") { return true }
    if text.hasPrefix("<"), text.hasSuffix(">") {
      if text.hasPrefix("<?") { return true }
      guard let root = text.prefixMatch(of: #/<([A-Za-z_][\w.:\-]*)/#)?.output.1 else { return false }
      return !htmlElements.contains(root.lowercased())
    }
    // An element with its end somewhere in the text, which is not an element of HTML.
    if let pair = text.firstMatch(of: #/<([A-Za-z_][\w.:\-]*+)[^<>]*+>[^<]*+<\/([A-Za-z_][\w.:\-]*+)\s*+>/#),
      pair.output.1 == pair.output.2, !htmlElements.contains(pair.output.1.lowercased())
    {
      return true
    }
    if text.prefixMatch(of: #/\[?\s*\{\s*"[^"]*"\s*:/#) != nil { return true }
    guard text.hasPrefix("{") || text.hasPrefix("[") else { return false }
    guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8)) else { return false }
    // A year in brackets is a person's estimate.
    return ((value as? [Any])?.count ?? 2) > 1
  }

  private static let htmlElements: Set<String> = [
    "a", "abbr", "address", "article", "b", "bdi", "bdo", "blockquote", "body", "br", "center", "cite",
    "code", "dd", "del", "details", "div", "dl", "dt", "em", "figure", "figcaption", "font", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "html", "i", "iframe", "img", "ins", "kbd", "li", "mark", "meta",
    "ol", "p", "pre", "q", "s", "script", "section", "small", "span", "strong", "style", "sub", "sup", "svg",
    "table", "title", "tt", "u", "ul",
  ]

  /// Whether the text has the form of a list of settings. Aperio writes `|key = value`. ImageJ, tifffile and ScanImage
  /// write `key=value`, one in each line; Trestle writes all in one line. Others write `Key: value`, one in each line.
  private static func isListOfSettings(_ text: String) -> Bool {
    if text.prefixMatch(of: #/Aperio (Image|Leica|Digital)|ImageJ=|shape=\(|SCANIMAGE|SI\.VERSION/#) != nil {
      return true
    }
    if text.split(separator: "|").dropFirst().count(where: isSetting) >= 2 { return true }
    for (separator, fewest) in [("\n", 2), (";", 3)] as [(Character, Int)] {
      let parts = text.split { $0 == separator || separator == "\n" && $0.isNewline }
        .filter { !$0.allSatisfy(\.isWhitespace) }
      if parts.count >= fewest, parts.allSatisfy(isSetting) { return true }
    }
    // Headings of sections are ignored.
    let lines = text.split(whereSeparator: \.isNewline).filter { line in
      !line.allSatisfy { $0.isWhitespace || $0.isPunctuation || $0.isSymbol } && !isHeading(line)
    }
    let fields = lines.compactMap { Field($0, separators: ":=") }
    if fields.count == lines.count, fields.count >= 2, !fields.allSatisfy(\.isProse) { return true }
    // One line, or some among others: a key in a program's spelling. `JavaScript: The Good Parts` is a title.
    let parts = text.split { $0.isNewline || ";|".contains($0) }
    let identifier = identifier
    return parts.compactMap { Field($0, separators: ":=") }.contains { field in
      let key = field.key.filter { !"\"'".contains($0) }
      return key.wholeMatch(of: identifier) != nil && !field.isProse && field.wordCount <= 2
    }
  }

  /// Whether the part has the form `key = value`.
  private static func isSetting(_ part: Substring) -> Bool {
    let key = part.drop(while: \.isWhitespace).prefix(81).prefix { $0 != "=" }
    return (1...80).contains(key.count) && key.endIndex < part.endIndex && part[key.endIndex] == "="
      && key.allSatisfy { $0.isLetter || $0.isNumber || "_.[]()/# -".contains($0) }
  }

  /// Whether the line has the form `[Section]`.
  private static func isHeading(_ line: Substring) -> Bool {
    let line = line.drop(while: \.isWhitespace)
    guard line.first == "[", let end = line.firstIndex(of: "]") else { return false }
    return line[end...].dropFirst().allSatisfy(\.isWhitespace)
  }

  /// A field of the form `Key: value`.
  private struct Field {
    let key: Substring
    let value: Substring

    /// - Parameter separators: characters; the first one in the text ends the key.
    init?(_ part: Substring, separators: String) {
      let part = part.drop { $0.isWhitespace || "\"'".contains($0) }
      guard let end = part.firstIndex(where: separators.contains) else { return nil }
      let key = part[..<end]
      // An address is not a field; a sentence before a colon is not a key.
      guard (1...40).contains(key.count), key.first?.isLetter == true, !part[end...].hasPrefix("://"),
        key.split(whereSeparator: \.isWhitespace).count <= 4,
        key.allSatisfy({ $0.isLetter || $0.isNumber || $0.isWhitespace || "_.-/()[]#\"'".contains($0) })
      else { return nil }
      self.key = key
      value = part[part.index(after: end)...].drop(while: \.isWhitespace)
    }

    /// The number of space-separated parts of the value that contain a letter.
    var wordCount: Int {
      value.split(whereSeparator: \.isWhitespace).count { $0.contains(where: \.isLetter) }
    }

    /// Whether the value reads as a sentence.
    var isProse: Bool {
      let isEnded = value.last.map { ".!?…\"”»)".contains($0) } ?? false
      return wordCount >= 5 || isEnded && wordCount >= 1 && value.contains(where: \.isLowercase)
    }
  }

  /// A key in a program's spelling of names: `PatientName`, `exposure_time`.
  private static var identifier: Regex<AnyRegexOutput> {
    Regex(#/[^\s_]*_\S*|[A-Z][a-z]+([A-Z][a-z]*)+|[a-z]+([A-Z][a-z]+)+/#)
  }
}
