/// A file that a client saves instead of showing it: Content-Disposition (RFC 6266).
package struct Attachment: Hashable, Sendable {
  /// The file's name, which is valid on every file system.
  package let name: String

  /// - Parameters:
  ///   - title: the untrusted title from which the name is made.
  ///   - ending: the file name extension, without its dot.
  package init(title: String, ending: String) {
    // Replaces characters that file names cannot contain on some system, and those that reverse the name on a screen.
    let scalars = title.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
      default: "/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "-" : Character(scalar)
      }
    }
    var stem = ""
    for word in String(scalars).split(separator: " ") {
      let longer = stem.isEmpty ? String(word) : stem + " " + word
      // Most file systems allow 255 bytes.
      guard longer.utf8.count <= Self.maxLength else {
        if stem.isEmpty { stem = String(word.prefix(Self.maxLength / 4)) }
        break
      }
      stem = longer
    }
    while stem.hasPrefix(".") { stem.removeFirst() }
    while stem.hasSuffix(".") || stem.hasSuffix(" ") { stem.removeLast() }
    name = (stem.isEmpty ? "image" : stem) + "." + ending
  }

  /// The maximum length of a name without its extension, in bytes.
  private static let maxLength = 200

  /// The header's value: the ASCII part of the name for old clients, the whole name for all others (RFC 8187).
  package var disposition: String {
    let ascii = String(name.unicodeScalars.map { $0.isASCII && $0 != "%" ? Character($0) : "_" })
    return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
  }
}
