import Foundation
import Glibc
import TileStorage
import ZigguratCGExiv2

/// The EXIF, IPTC and XMP fields of one file, by Exiv2's names (`Xmp.dc.title`).
final class MetadataFile {
  private let pointer: UnsafeMutablePointer<GExiv2Metadata>
  /// Whether the file is a sidecar. Exiv2 derives EXIF and IPTC from a sidecar's XMP, and changes unsuitable values,
  /// such as dates. These are not read.
  private let isSidecar: Bool
  /// Other XMP of the same file, with lower precedence.
  private var further: [MetadataFile] = []
  /// Fields that Exiv2 does not read, by similar names.
  private var texts: [String: String] = [:]

  /// Reads a file. Nil if Exiv2 does not support its format, or its metadata is damaged: a picture without metadata is
  /// still a picture.
  convenience init?(path: String) {
    self.init(isSidecar: false) { gexiv2_metadata_open_path($0, path, $1) != 0 }
    var packets: [[UInt8]] = []
    if mayHaveMore {
      let embedded = EmbeddedTexts(path: path)
      texts = embedded.texts
      packets = embedded.packets
    }
    further = packets.compactMap { $0.isEmpty ? nil : MetadataFile(xmp: $0) }
    addRepairedXMP()
  }

  /// Returns the metadata of a picture's file, including that of HEIF and AVIF which Exiv2 ignores; nil if it has none.
  static func picture(path: String) -> MetadataFile? {
    let file = MetadataFile(path: path)
    let (hasEXIF, hasXMP) = (file?.has(gexiv2_metadata_has_exif), file?.has(gexiv2_metadata_has_xmp))
    guard hasEXIF != true || hasXMP != true, isHEIF(path) else { return file }
    let items = HEIFItems(path: path)
    let further =
      (hasEXIF == true ? [] : items.exif.compactMap(MetadataFile.init(tiff:)))
      + (hasXMP == true ? [] : items.xmp.compactMap(MetadataFile.init(xmp:)))
    guard let main = file ?? further.first else { return nil }
    main.further += further.filter { $0 !== main }
    return main
  }

  private static func isHEIF(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var start = [UInt8](repeating: 0, count: ImageFormat.signatureBytes)
    let count = pread(descriptor, &start, start.count, 0)
    return [.heif, .avif].contains(ImageFormat(start: start.prefix(max(count, 0))))
  }

  private func has(_ isThere: (UnsafeMutablePointer<GExiv2Metadata>) -> gboolean) -> Bool {
    isThere(pointer) != 0
  }

  /// Reads the bytes of EXIF, which are a TIFF file; nil if they are not.
  convenience init?(tiff bytes: [UInt8]) {
    self.init(isSidecar: false) { gexiv2_metadata_open_buf($0, bytes, bytes.count, $1) != 0 }
    addRepairedXMP()
  }

  /// Adds a packet that Exiv2 has dropped completely, as it does for one invalid character.
  private func addRepairedXMP() {
    guard gexiv2_metadata_has_xmp(pointer) == 0, let packet = gexiv2_metadata_try_get_xmp_packet(pointer, nil)
    else { return }
    defer { g_free(packet) }
    let bytes = XMPText.repaired(Array(UnsafeRawBufferPointer(start: packet, count: strlen(packet))))
    if !bytes.isEmpty, let file = MetadataFile(xmp: bytes) { further.insert(file, at: 0) }
  }

  /// Reads an XMP sidecar's bytes; nil if they are not XMP.
  convenience init?(xmp bytes: [UInt8]) {
    guard let bytes = XMPText.xml(XMPText.utf8(bytes)) else { return nil }
    self.init(isSidecar: true) { gexiv2_metadata_open_buf($0, bytes, bytes.count, $1) != 0 }
    // Exiv2 returns success, and no field, for XMP that it cannot decode.
    if gexiv2_metadata_has_xmp(pointer) == 0, XMPText.problem(bytes) != nil { return nil }
  }

  private init?(
    isSidecar: Bool,
    opened open: (UnsafeMutablePointer<GExiv2Metadata>, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>)
      -> Bool
  ) {
    guard Self.isReady, let unopened = gexiv2_metadata_new() else { return nil }
    // Required although the error is not used: gexiv2 0.14 reports late damage by the error alone, and returns success
    // to callers that pass none.
    var error: UnsafeMutablePointer<GError>?
    let isOpen = open(unopened, &error) && error == nil
    g_clear_error(&error)
    // After a failure, the object is leaked, some kilobytes: gexiv2 frees parts of it on failure, and again when it is
    // unreferenced. `deinit` unreferences only the object in `pointer`.
    guard isOpen else { return nil }
    pointer = unopened
    self.isSidecar = isSidecar
  }

  /// Whether the file may have metadata that Exiv2 does not read. Reopening it costs a round trip on a network share.
  private var mayHaveMore: Bool {
    switch gexiv2_metadata_get_mime_type(pointer).map({ String(cString: $0) }) {
    case "image/png", "image/gif": true
    case "image/jpeg": gexiv2_metadata_try_has_tag(pointer, "Xmp.xmpNote.HasExtendedXMP", nil) != 0
    default: false
    }
  }

  deinit { g_object_unref(pointer) }

  /// Returns the field's values, trimmed, each cut at the maximum length of a caption, without empty ones.
  func texts(_ tag: String) -> [String] {
    if let text = texts[tag] { return [text] }
    let own = ownTexts(tag)
    guard own.isEmpty else { return own }
    return further.lazy.map { $0.texts(tag) }.first { !$0.isEmpty } ?? []
  }

  private func ownTexts(_ tag: String) -> [String] {
    guard !isSidecar || tag.hasPrefix("Xmp.") else { return [] }
    guard gexiv2_metadata_try_has_tag(pointer, tag, nil) != 0 else {
      return tag.hasPrefix("Xmp.") && !tag.hasSuffix("]") ? items(tag) : []
    }
    guard tag.hasPrefix("Exif.") else {
      guard let list = gexiv2_metadata_try_get_tag_multiple(pointer, tag, nil) else { return [] }
      defer { g_strfreev(list) }
      var result: [String] = []
      var at = 0
      while let text = list[at] {
        result.append(Self.text(text))
        at += 1
      }
      if result.count == 1, result[0].wholeMatch(of: #/type="(?:Seq|Bag|Alt|Struct)"/#) != nil {
        return items(tag)
      }
      return result.map(Self.value).filter { !$0.isEmpty }
    }
    // Interpreted: a comment without its character set's name, and Windows' fields without UCS-2.
    guard let text = gexiv2_metadata_try_get_tag_interpreted_string(pointer, tag, nil) else { return [] }
    defer { g_free(text) }
    let value = Self.value(Self.text(text))
    return value.isEmpty ? [] : [value]
  }

  func text(_ tag: String) -> String? { texts(tag).first }

  /// Returns the items of a list that have qualifiers, such as a language; Exiv2 has a separate field for each item.
  private func items(_ tag: String) -> [String] {
    var result: [String] = []
    for number in 1...Self.maxItems {
      let item = "\(tag)[\(number)]"
      guard gexiv2_metadata_try_has_tag(pointer, item, nil) != 0 else { break }
      result += ownTexts(item)
    }
    return result
  }

  private static let maxItems = 1000

  /// Returns the default of XMP's language alternatives, or else the first.
  func alternative(_ tag: String) -> String? {
    let all = languages(tag)
    let text = (all.first { $0.language == "x-default" } ?? all.first)?.text
    return text ?? further.lazy.compactMap { $0.alternative(tag) }.first
  }

  /// Returns those of XMP's language alternatives that have a language tag, by this tag (BCP 47).
  func alternatives(_ tag: String) -> [String: String] {
    let all = languages(tag)
    guard !all.isEmpty else { return further.lazy.map { $0.alternatives(tag) }.first { !$0.isEmpty } ?? [:] }
    var result: [String: String] = [:]
    // Adobe's library writes "x-repair" for an alternative without a language.
    for (language, text) in all.prefix(Self.maxLanguages)
    where !["x-default", "x-repair"].contains(language) {
      guard language.wholeMatch(of: #/[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8}/#) != nil else { continue }
      result[language] = ImageMetadata.cut(text, MetadataEdit.maxTitleLength)
    }
    return result
  }

  /// Returns a field's alternatives, trimmed, without empty ones.
  ///
  /// Exiv2 returns them as one text (`lang="x-default" Title, lang="de" Titel`). In it, a second language looks like
  /// text that contains such a mark; in this case the XML is read. Marks are found by scalars: the text behind may
  /// begin with a combining one.
  private func languages(_ tag: String) -> [(language: String, text: String)] {
    guard gexiv2_metadata_try_has_tag(pointer, tag, nil) != 0,
      let bytes = gexiv2_metadata_try_get_tag_string(pointer, tag, nil)
    else { return [] }
    defer { g_free(bytes) }
    let text = Self.text(bytes)
    if text.firstMatch(of: #/, lang="/#.matchingSemantics(.unicodeScalar)) != nil {
      return (written ?? [:])[tag] ?? []
    }
    let mark = text.firstMatch(of: #/^lang="((?s:.*?))" /#.matchingSemantics(.unicodeScalar))
    let words = Self.value(String(text[(mark?.range.upperBound ?? text.startIndex)...]))
    return words.isEmpty ? [] : [(mark.map { String($0.output.1) } ?? "x-default", words)]
  }

  /// Language alternatives in the XMP packet, by the fields that are read as such.
  private lazy var written: [String: [(language: String, text: String)]]? = xmp.map { xmp in
    var result: [String: [(language: String, text: String)]] = [:]
    var (tag, language): (String?, String?) = (nil, nil)
    var text: [UInt8] = []
    try? XMLElements.read(
      xmp,
      begin: { element in
        if let known = Self.alternativeTags[element.qualifiedName] {
          tag = known
        } else if tag != nil, element.name == "li" {
          language = element["xml:lang"] ?? "x-default"
          text = []
        }
        return true
      }, text: { if language != nil { text += $0 } },
      end: { name in
        if name == "li", let tag, let of = language {
          let words = Self.value(String(decoding: text, as: UTF8.self))
          if !words.isEmpty { result[tag, default: []].append((of, words)) }
          language = nil
        } else if name == "Alt" {
          tag = nil
        }
      })
    return result
  }

  /// The fields that are read as language alternatives, by their names in XML.
  private static let alternativeTags = [
    "dc:title": "Xmp.dc.title", "dc:description": "Xmp.dc.description", "dc:rights": "Xmp.dc.rights",
    "xmpRights:UsageTerms": "Xmp.xmpRights.UsageTerms", "exif:UserComment": "Xmp.exif.UserComment",
    "Iptc4xmpCore:AltTextAccessibility": "Xmp.iptc.AltTextAccessibility",
    "Iptc4xmpCore:ExtDescrAccessibility": "Xmp.iptc.ExtDescrAccessibility",
  ]

  private static let maxLanguages = 100

  // MARK: Writing

  /// The XMP packet with every field, for a sidecar.
  var xmp: [UInt8]? {
    let format = GExiv2XmpFormatFlags(rawValue: GEXIV2_OMIT_PACKET_WRAPPER.rawValue)
    guard let text = gexiv2_metadata_try_generate_xmp_packet(pointer, format, 0, nil) else { return nil }
    defer { g_free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// Sets the default of a language alternative and keeps the other languages.
  func setDefault(_ tag: String, _ text: String) -> Bool {
    gexiv2_metadata_try_set_tag_string(pointer, tag, "lang=\"x-default\" \(text)", nil) != 0
  }

  func setText(_ tag: String, _ text: String) -> Bool {
    gexiv2_metadata_try_set_tag_string(pointer, tag, text, nil) != 0
  }

  /// Sets a list.
  func set(_ tag: String, _ texts: [String]) -> Bool {
    var texts = texts.map { UnsafePointer<CChar>(strdup($0)) }
    defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
    texts.append(nil)
    return gexiv2_metadata_try_set_tag_multiple(pointer, tag, &texts, nil) != 0
  }

  /// Removes a field. Returns true also if there was no such field.
  func clear(_ tag: String) -> Bool {
    gexiv2_metadata_try_clear_tag(pointer, tag, nil)
    return gexiv2_metadata_try_has_tag(pointer, tag, nil) == 0
  }

  /// Decodes text. Cameras and old programs write Latin-1 instead of UTF-8, in Windows' variant with curved quotes
  /// (WHATWG Encoding, section 9).
  private static func text(_ bytes: UnsafePointer<CChar>) -> String {
    if let text = String(validatingCString: bytes) { return text }
    let data = Data(bytes: bytes, count: strlen(bytes))
    // Five bytes are undefined in Windows-1252, and control characters in Latin-1.
    return String(data: data, encoding: .windowsCP1252) ?? String(data: data, encoding: .isoLatin1) ?? ""
  }

  /// Returns the text without insignificant characters at its ends: white space, control characters and byte order
  /// marks. Other invisible characters may be part of the text.
  static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: nothing) }

  private static func value(_ text: String) -> String {
    ImageMetadata.cut(trimmed(text), MetadataEdit.maxCaptionLength)
  }

  private static let nothing = CharacterSet.whitespacesAndNewlines
    .union(CharacterSet(charactersIn: "\u{0}"..."\u{1f}")).union(
      CharacterSet(charactersIn: "\u{7f}"..."\u{9f}")
    )
    .union(CharacterSet(charactersIn: "\u{feff}\u{200b}"))

  /// Whether gexiv2 is initialized: once, before the first use, as it requires for programs with threads.
  static let isReady: Bool = {
    gexiv2_log_set_level(GEXIV2_LOG_LEVEL_MUTE)
    return gexiv2_initialize() != 0
      && gexiv2_metadata_try_register_xmp_namespace("https://ziggurat.invalid/xmp/1.0/", "ziggurat", nil) != 0
      && gexiv2_metadata_try_register_xmp_namespace("http://creativecommons.org/ns#", "cc", nil) != 0
  }()
}
