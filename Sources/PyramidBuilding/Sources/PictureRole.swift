import Imaging

/// The role of a picture in a file that is about another picture.
enum PictureRole: String, Codable, Hashable, Sendable {
  /// The slide's label, which names the patient.
  case label
  /// A photograph of the whole glass, with its label.
  case macro, overview
  case barcode
  case thumbnail
  /// The same picture, smaller.
  case reduced = "reduced copy"
  /// The area in which another picture is valid or transparent.
  case mask

  /// Whether it may show whose tissue it is.
  var isPrivate: Bool { [.label, .macro, .overview, .barcode].contains(self) }

  /// The picture as `--associated` builds it; nil if that builds none.
  var associated: AssociatedImage? { AssociatedImage(rawValue: rawValue) }
}

extension PictureRole {
  /// The role that a picture's name gives it: every word of `name` is such a role or says nothing (`Slide label 2`),
  /// or the role stands in brackets (`slide.svs [label]`). `Labelled cells` and `Label of a bottle` are no labels.
  init?(named name: some StringProtocol) {
    if name.isEmpty { return nil }
    let name = String(name.prefix(Self.longestName))
    if let match = name.firstMatch(
      of: #/[\[(<{]\s*(label|macro|overview|barcode|thumbnail)(?:[\s_]*image)?\s*[\])>}]/#.ignoresCase())
    {
      self.init(word: match.output.1.lowercased())
      return
    }
    let words = Self.words(name)
    // A line of a sentence may end anywhere.
    guard let last = words.last, !["of", "the", "for", "an", "and"].contains(last),
      let role = words.lazy.compactMap({ PictureRole(word: $0) }).first,
      words.allSatisfy({ Self.isNeutral($0) || PictureRole(word: $0) != nil })
    else { return nil }
    self = role
  }

  /// The role of which one word of `name` tells, whatever the others say: of a picture beside others, which is named
  /// (`S21-0815 label`), not described.
  init?(mentionedIn name: String) {
    if let role = PictureRole(named: name) {
      self = role
      return
    }
    let words = Self.words(String(name.prefix(Self.longestName)))
    for (place, word) in words.enumerated() {
      // Label-free microscopy has no labels.
      guard let role = PictureRole(word: word), role.isPrivate,
        !(word == "label" && words.dropFirst(place + 1).first == "free")
      else { continue }
      self = role
      return
    }
    return nil
  }

  /// The role of which a description tells in a line of its own, as Aperio's `label 387x463`, or in a field that is the
  /// picture's type, as `<ImageType>Label</ImageType>` of Akoya's QPTIFF.
  init?(describedBy description: String) {
    if description.isEmpty { return nil }
    let text = description.prefix(1 << 16)
    if let match = text.firstMatch(of: #/<(?:\w+:)?ImageType>\s*+([A-Za-z][A-Za-z ]*+)\s*+</#.ignoresCase()) {
      self.init(type: match.output.1)
      return
    }
    if text.first(where: { !$0.isWhitespace }) == "<" {
      let types = text.matches(of: #/\bImageType\s*=\s*["']([A-Za-z ]+)["']/#.ignoresCase())
      guard types.count == 1, let type = types.first else { return nil }
      self.init(type: type.output.1)
      return
    }
    for line in text.split(whereSeparator: { $0.isNewline || $0 == "," || $0 == "{" || $0 == "}" }).prefix(
      100)
    {
      // `type: label`, `"ImageType": "Macro"`.
      if let match = line.prefix(Self.longestName).wholeMatch(
        of:
          #/\s*["']?(?:(?:image|picture|series|page)[ _]?)?(?:type|kind|role|name)["']?\s*[:=]\s*["']?(.+?)["']?\s*/#
          .ignoresCase())
      {
        if let role = PictureRole(type: match.output.1) {
          self = role
          return
        }
      }
    }
    for line in text.split(whereSeparator: \.isNewline).prefix(100) {
      // What follows are settings: Aperio's `|AppMag = 20`, Philips' ` -offset=(0,0)`.
      let name = line.split(separator: "|", omittingEmptySubsequences: false)[0].prefix { $0 != "=" }
      let isCut = name.endIndex < line.endIndex && line[name.endIndex] == "="
      let head = isCut ? name.firstMatch(of: #/^(.*?)\s-\w+$/#).map { $0.output.1 } : name
      if let head, !head.contains(":"), let role = PictureRole(named: head) {
        self = role
        return
      }
    }
    return nil
  }

  private init?(type: Substring) {
    let words = Self.words(String(type))
    if words.contains(where: { $0.hasPrefix("reduced") }) {
      self = .reduced
    } else if let role = PictureRole(named: type) {
      self = role
    } else {
      return nil
    }
  }

  private init?(word: String) {
    switch word {
    case "label", "labelimage", "slidelabel": self = .label
    case "macro", "macroimage": self = .macro
    case "overview", "overviewimage", "localizer": self = .overview
    case "barcode", "barcodeimage": self = .barcode
    case "thumbnail", "thumbnailimage": self = .thumbnail
    default: return nil
    }
  }

  private static let longestName = 200

  /// In lower case; `LabelImage` are two.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var last: Character?
    for character in name {
      let begins = character.isUppercase && last?.isLowercase == true
      if begins || !(character.isLetter || character.isNumber) {
        if !word.isEmpty { words.append(word.lowercased()) }
        word = ""
      }
      if character.isLetter || character.isNumber { word.append(character) }
      last = character
    }
    return word.isEmpty ? words : words + [word.lowercased()]
  }

  /// Whether the word says nothing of what a picture shows: numbers, sizes, and what slides and their files are called.
  private static func isNeutral(_ word: String) -> Bool {
    word.contains(where: \.isNumber) || word.count == 1 || neutral.contains(word)
  }

  private static let neutral: Set<String> = [
    "image", "images", "picture", "photo", "img", "slide", "slides", "scan", "scanner", "scanned", "camera",
    "glass",
    "specimen", "whole", "wsi", "series", "page", "of", "the", "for", "an", "and", "type", "view", "region",
    "level",
    "layer", "svs", "tif", "tiff", "ndpi", "scn", "vsi", "czi", "mrxs", "qptiff", "ome", "jpeg", "jpg", "png",
    "px",
    "pixels", "rgb", "color", "colour", "associated", "preview", "low", "resolution",
  ]
}
