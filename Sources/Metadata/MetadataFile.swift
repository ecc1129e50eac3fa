import CGExiv2
import Foundation
import TileStorage

/// The EXIF, IPTC and XMP fields of one file, by Exiv2's names (`Xmp.dc.title`).
final class MetadataFile {
  private let pointer: UnsafeMutablePointer<GExiv2Metadata>
  /// Exiv2 makes EXIF and IPTC of a sidecar's XMP, and changes what does not fit there, as dates. These are not read.
  private let isSidecar: Bool

  /// Nil where the file is of no format that Exiv2 reads, or its metadata is damaged: a picture without
  /// words is still a picture.
  convenience init?(path: String) {
    self.init(isSidecar: false) { gexiv2_metadata_open_path($0, path, $1) != 0 }
  }

  /// Of an XMP sidecar's bytes; nil where they are none.
  convenience init?(xmp bytes: [UInt8]) {
    self.init(isSidecar: true) { gexiv2_metadata_open_buf($0, bytes, bytes.count, $1) != 0 }
  }

  private init?(
    isSidecar: Bool,
    opened open: (UnsafeMutablePointer<GExiv2Metadata>, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>)
      -> Bool
  ) {
    guard Self.isReady, let unopened = gexiv2_metadata_new() else { return nil }
    // Asked for though nobody reads it: of damage that gexiv2 0.14 meets late it tells by the error alone,
    // and returns success to who takes none.
    var error: UnsafeMutablePointer<GError>?
    let isOpen = open(unopened, &error) && error == nil
    g_clear_error(&error)
    // What failed to open is left to leak, some kilobytes: gexiv2 frees parts of it as it fails, and frees them
    // again when it is unreferenced. Only what is stored in `pointer` is, by `deinit`.
    guard isOpen else { return nil }
    (pointer, self.isSidecar) = (unopened, isSidecar)
  }

  deinit { g_object_unref(pointer) }

  /// The field's values, trimmed, each cut at the length of the longest caption, without empty ones.
  func texts(_ tag: String) -> [String] {
    guard !isSidecar || tag.hasPrefix("Xmp."), gexiv2_metadata_try_has_tag(pointer, tag, nil) != 0 else {
      return []
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
      return result.map(Self.value).filter { !$0.isEmpty }
    }
    // Interpreted: of a comment without its character set's name, of Windows' fields without UCS-2.
    guard let text = gexiv2_metadata_try_get_tag_interpreted_string(pointer, tag, nil) else { return [] }
    defer { g_free(text) }
    let value = Self.value(Self.text(text))
    return value.isEmpty ? [] : [value]
  }

  func text(_ tag: String) -> String? { texts(tag).first }

  /// Of XMP's alternatives by language, which come as one text (`lang="x-default" Words, lang="de" Worte`),
  /// the default, or else the first. Marks are looked for by scalars: words may begin with one that combines.
  func alternative(_ tag: String) -> String? {
    guard gexiv2_metadata_try_has_tag(pointer, tag, nil) != 0,
      let bytes = gexiv2_metadata_try_get_tag_string(pointer, tag, nil)
    else { return nil }
    defer { g_free(bytes) }
    let text = Self.text(bytes)
    let mark =
      text.firstMatch(of: #/(?:^|, )lang="x-default" /#.matchingSemantics(.unicodeScalar))
      ?? text.firstMatch(of: #/^lang="(?s:.*?)" /#.matchingSemantics(.unicodeScalar))
    // Of what follows a comma nobody can tell whether it is another language or a part of the text; a language may
    // be called anything, with quotes in it.
    let words = text[(mark?.range.upperBound ?? text.startIndex)...]
    let next = words.firstMatch(of: #/, lang="/#.matchingSemantics(.unicodeScalar))
    let value = Self.value(String(words[..<(next?.range.lowerBound ?? words.endIndex)]))
    return value.isEmpty ? nil : value
  }

  /// Of XMP's alternatives those whose language is named, by its tag (BCP 47).
  func alternatives(_ tag: String) -> [String: String] {
    guard gexiv2_metadata_try_has_tag(pointer, tag, nil) != 0,
      let bytes = gexiv2_metadata_try_get_tag_string(pointer, tag, nil)
    else { return [:] }
    defer { g_free(bytes) }
    let text = Self.text(bytes)
    let mark = #/(?:^|, )lang="([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8})" /#
    let marks = text.matches(of: mark.matchingSemantics(.unicodeScalar)).prefix(Self.mostLanguages)
    var result: [String: String] = [:]
    for (number, mark) in marks.enumerated() where mark.output.1 != "x-default" {
      let end = number + 1 < marks.count ? marks[number + 1].range.lowerBound : text.endIndex
      let words = Self.trimmed(String(text[mark.range.upperBound..<end]))
      if !words.isEmpty {
        result[String(mark.output.1)] = ImageMetadata.cut(words, MetadataEdit.longestTitle)
      }
    }
    return result
  }

  private static let mostLanguages = 100

  // MARK: Writing

  /// The XMP packet with every field, as a sidecar holds it.
  var xmp: [UInt8]? {
    let format = GExiv2XmpFormatFlags(rawValue: GEXIV2_OMIT_PACKET_WRAPPER.rawValue)
    guard let text = gexiv2_metadata_try_generate_xmp_packet(pointer, format, 0, nil) else { return nil }
    defer { g_free(text) }
    return Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// Sets an alternative by language's default and leaves the other languages.
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

  /// True also where there was no such field.
  func clear(_ tag: String) -> Bool {
    gexiv2_metadata_try_clear_tag(pointer, tag, nil)
    return gexiv2_metadata_try_has_tag(pointer, tag, nil) == 0
  }

  /// Cameras and old programs write Latin-1 where UTF-8 is asked for, as Windows has it, with curved quotes
  /// (WHATWG Encoding, section 9).
  private static func text(_ bytes: UnsafePointer<CChar>) -> String {
    if let text = String(validatingCString: bytes) { return text }
    let data = Data(bytes: bytes, count: strlen(bytes))
    // Five bytes stand for nothing in Windows-1252, and for control characters in Latin-1.
    return String(data: data, encoding: .windowsCP1252) ?? String(data: data, encoding: .isoLatin1) ?? ""
  }

  /// Without what stands at the ends and means nothing there: white space, control characters, byte order marks. Of other
  /// invisible characters some belong to words.
  static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: nothing) }

  private static func value(_ text: String) -> String {
    ImageMetadata.cut(trimmed(text), MetadataEdit.longestCaption)
  }

  private static let nothing = CharacterSet.whitespacesAndNewlines
    .union(CharacterSet(charactersIn: "\u{0}"..."\u{1f}")).union(
      CharacterSet(charactersIn: "\u{7f}"..."\u{9f}")
    )
    .union(CharacterSet(charactersIn: "\u{feff}\u{200b}"))

  /// Once, before the first use, as gexiv2 demands of programs with threads.
  static let isReady: Bool = {
    gexiv2_log_set_level(GEXIV2_LOG_LEVEL_MUTE)
    return gexiv2_initialize() != 0
      && gexiv2_metadata_try_register_xmp_namespace("https://ziggurat.invalid/xmp/1.0/", "ziggurat", nil) != 0
      && gexiv2_metadata_try_register_xmp_namespace("http://creativecommons.org/ns#", "cc", nil) != 0
  }()
}
