import ZigguratImaging
import ZigguratMetadata

/// The role of a picture that belongs to another picture of the file.
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
  /// A picture that may be a label: its description cannot be read, and another picture of its file is far larger.
  case unread = "small picture whose description cannot be read"

  /// Whether the picture may identify the patient.
  var isPrivate: Bool { [.label, .macro, .overview, .barcode, .unread].contains(self) }

  /// The picture's kind for `--associated`; nil if that does not build it.
  var associated: AssociatedImage? { AssociatedImage(rawValue: rawValue) }
}

extension PictureRole {
  /// Finds the role in a picture's name if the whole name means it (`Slide label 2`), or it is in brackets (`slide.svs
  /// [label]`). `Labelled tissue` and `Label of a bottle` do not name a label.
  init?(named name: some StringProtocol) {
    if name.isEmpty { return nil }
    let name = String(name.prefix(Self.maxNameLength))
    if let role = Self.bracketed(name) {
      self = role
      return
    }
    let words = Self.words(name)
    // A line may end within a sentence.
    guard let last = words.last, !["of", "the", "for", "an", "and"].contains(last),
      let role = words.lazy.compactMap({ PictureRole(word: $0) }).first,
      words.allSatisfy({ Self.isNeutral($0) || PictureRole(word: $0) != nil })
    else { return nil }
    self = role
  }

  /// Finds a role mentioned anywhere in the name of a picture among others. Such a name is an identifier (`S21-0815
  /// label`), not a description.
  init?(mentionedIn name: String) {
    if let role = PictureRole(named: name) {
      self = role
      return
    }
    let words = Self.words(String(name.prefix(Self.maxNameLength)))
    for (place, word) in words.enumerated() {
      // Label-free microscopy has no labels.
      guard let role = PictureRole(word: word), role.isPrivate,
        !(role == .label && words.dropFirst(place + 1).first == "free")
      else { continue }
      self = role
      return
    }
    return nil
  }

  /// Finds a role mentioned in the short description of a picture that is far smaller than another one of its file:
  /// `label: S21-0815`, `Patient label`. Long descriptions come from scanners and use the terms in other senses.
  init?(mentionedInDescription text: String) {
    guard text.utf8.count <= Self.maxMentionLength, !text.contains("|") else { return nil }
    self.init(mentionedIn: text)
  }

  /// Finds the role of a picture that is far smaller than another one of its file, by its description. A role is
  /// mentioned, or an ambiguous term is used, as `Labels` or `Étiquette`.
  init?(ofSmallPictureDescribedBy text: String) {
    guard let role = PictureRole(mentionedInDescription: text) ?? PictureRole(inOtherWords: text) else {
      return nil
    }
    self = role
  }

  /// Finds a role named in another language, or in the plural. All other terms are ignored.
  init?(inOtherWords text: String) {
    let words = Self.words(String(text.prefix(Self.maxNameLength)))
    let roles = words.map { Self.otherWords[$0] ?? PictureRole(word: $0) }
    guard let role = roles.lazy.compactMap(\.self).first,
      zip(words, roles).allSatisfy({ $1 != nil || Self.isNeutral($0) })
    else { return nil }
    self = role
  }

  /// Folded, in lower case.
  private static let otherWords: [String: PictureRole] = {
    let labels = [
      "labels", "labelimages", "slidelabels", "etiketten", "etikette", "etiketter", "etiquette", "etiquettes",
      "etiquetas", "etichetta", "etichette", "etykieta", "etykiety", "etiqueta", "beschriftung",
      "этикетка", "этикетки", "ラベル", "标签", "標籤", "라벨",
    ]
    let others: [(String, PictureRole)] = [
      ("macros", .macro), ("makro", .macro), ("makrobild", .macro), ("overviews", .overview),
      ("übersicht", .overview), ("übersichtsbild", .overview), ("barcodes", .barcode),
      ("strichcode", .barcode),
      ("codebarre", .barcode), ("codebarres", .barcode), ("qrcode", .barcode), ("datamatrix", .barcode),
    ]
    let all = labels.map { ($0, PictureRole.label) } + others
    return Dictionary(all.map { (FoldedText.folded($0).lowercased(), $1) }) { first, _ in first }
  }()

  private static let maxMentionLength = 100

  /// Finds the role in the last component of a path: `C:\scans\label.tif`.
  init?(pathed path: String) {
    guard let name = path.split(whereSeparator: { "/\\".contains($0) }).last else { return nil }
    self.init(named: name)
  }

  /// Finds the role in the value of a type field: `SegmentationMap`, or DICOM's `ORIGINAL\PRIMARY\LABEL\NONE` (PS3.3,
  /// section C.8.12.4.1.1).
  init?(type: some StringProtocol) {
    let type = type.prefix(Self.maxNameLength)
    let parts = type.split(separator: "\\")
    if parts.count > 1 {
      guard let role = parts.lazy.compactMap({ PictureRole(named: $0) }).first else { return nil }
      self = role
      return
    }
    let words = Self.words(String(type))
    if words.contains(where: { $0.hasPrefix("reduced") }) {
      self = .reduced
    } else if let role = PictureRole(named: type) {
      self = role
    } else {
      return nil
    }
  }

  /// Returns the first role in brackets, as in `slide.svs [label]`.
  private static func bracketed(_ name: String) -> PictureRole? {
    let text = Array(FoldedText.folded(name).lowercased())
    func skipBlanks(_ start: Int) -> Int { text[start...].firstIndex { !$0.isWhitespace } ?? text.count }
    for open in text.indices where "[(<{".contains(text[open]) {
      let start = skipBlanks(open + 1)
      let word = text[start...].prefix(while: \.isLetter)
      // `[label_image]`, `[labelimage]`
      guard let role = PictureRole(word: String(word)) else { continue }
      var end = skipBlanks(word.endIndex)
      let image = text[end...].drop { $0 == "_" || $0.isWhitespace }
      if image.starts(with: "image") { end = skipBlanks(image.startIndex + 5) }
      if end < text.count, "])>}".contains(text[end]) { return role }
    }
    return nil
  }

  private init?(word: String) {
    switch word {
    case "label", "labelimage", "slidelabel", "etikett", "etiket": self = .label
    case "macro", "macroimage": self = .macro
    case "overview", "overviewimage", "localizer": self = .overview
    case "barcode", "barcodeimage": self = .barcode
    case "thumbnail", "thumbnailimage": self = .thumbnail
    default: return nil
    }
  }

  private static let maxNameLength = 200

  /// Splits a name into folded terms in lower case; `SegmentationMap` gives two.
  private static func words(_ name: String) -> [String] {
    let name = FoldedText.folded(name)
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

  /// Whether the term says nothing about a picture's content: numbers, sizes, and usual names of slides and files.
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
