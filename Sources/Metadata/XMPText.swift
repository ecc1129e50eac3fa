import Foundation
import TileStorage

/// XMP as bytes, before an XML parser reads it.
enum XMPText {
  /// The encodings of XMP besides UTF-8 (XMP specification, part 1, section 7.1), by their byte order marks or the
  /// first character, `<`. UTF-32 comes first: its mark begins with that of UTF-16.
  private static let encodings: [([UInt8], String.Encoding)] = [
    ([0xff, 0xfe, 0, 0], .utf32LittleEndian), ([0, 0, 0xfe, 0xff], .utf32BigEndian),
    ([0x3c, 0, 0, 0], .utf32LittleEndian), ([0, 0, 0, 0x3c], .utf32BigEndian),
    ([0xff, 0xfe], .utf16LittleEndian), ([0xfe, 0xff], .utf16BigEndian),
    ([0x3c, 0], .utf16LittleEndian), ([0, 0x3c], .utf16BigEndian),
  ]

  /// Returns the text in UTF-8. Bytes in none of these encodings are returned unchanged.
  static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    guard let encoding = encodings.first(where: { bytes.starts(with: $0.0) })?.1,
      let text = String(data: Data(bytes), encoding: encoding)
    else { return bytes }
    // The declaration names the former encoding.
    let plain = text.drop { $0 == "\u{feff}" }.replacing(#/^<\?xml[^>]*\?>\s*/#, with: "")
    return Array(plain.utf8)
  }

  /// Returns a text in UTF-8 without its byte order mark and leading white space; nil if it is not XML. With them,
  /// Exiv2 does not recognize XMP.
  static func xml(_ bytes: [UInt8]) -> [UInt8]? {
    let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    let rest = start.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
    return rest.first == UInt8(ascii: "<") ? Array(rest) : nil
  }

  /// Returns why a sidecar is not read, in a clause; nil if it is valid.
  static func problem(_ bytes: [UInt8]) -> String? {
    if bytes.isEmpty { return "is empty" }
    guard let text = xml(utf8(bytes)) else { return "is not XMP" }
    guard String(validating: text, as: UTF8.self) != nil else { return "is neither UTF-8 nor UTF-16" }
    // The properties of each description, by their names.
    var (isXMP, depth, descriptionDepth) = (false, 0, 0)
    var met: Set<String> = []
    var doubled: String?
    do throws(XMLElements.ValidationError) {
      try XMLElements.read(
        text,
        begin: { element in
          depth = element.depth
          if element.qualifiedName == "rdf:RDF" { isXMP = true }
          if element.qualifiedName == "rdf:Description", descriptionDepth == 0 {
            descriptionDepth = depth
            for (name, _) in element.values where !name.hasPrefix("xmlns") && name != "rdf:about" {
              if !met.insert(name).inserted { doubled = doubled ?? name }
            }
          } else if descriptionDepth > 0, depth == descriptionDepth + 1,
            !met.insert(element.qualifiedName).inserted
          {
            doubled = doubled ?? element.qualifiedName
          }
          return true
        },
        end: { _ in
          if depth == descriptionDepth { descriptionDepth = 0 }
          depth -= 1
        })
    } catch { return "is \(error.reason)" }
    guard isXMP else { return "is XML, but not XMP" }
    return doubled.map { "has the property '\($0.prefix(100))' twice" }
  }

  /// Returns XMP without characters that XML does not allow (XML 1.0, section 2.2), and with those of Windows-1252
  /// converted to UTF-8.
  static func repaired(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let first = rest.first {
      let length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
      let part = rest.prefix(length)
      if let text = String(validating: part, as: UTF8.self), let scalar = text.unicodeScalars.first {
        result += isOfXML(scalar) ? Array(part) : [0x20]
        rest = rest.dropFirst(length)
      } else {
        let text = String(data: Data([first]), encoding: .windowsCP1252) ?? "\u{fffd}"
        result += Array(text.utf8)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  private static func isOfXML(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...: true
    default: false
    }
  }
}
