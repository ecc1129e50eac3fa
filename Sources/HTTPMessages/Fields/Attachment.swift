/// A file that a client saves instead of showing it: Content-Disposition (RFC 6266).
package struct Attachment: Hashable, Sendable {
  /// The file's name, which every file system takes.
  package let name: String

  /// - Parameters:
  ///   - title: what the file is called after; whatever somebody wrote.
  ///   - ending: of the file's name, without its dot.
  package init(title: String, ending: String) {
    // What names of files cannot have, here or elsewhere, and what would turn the name around on a screen.
    let scalars = title.unicodeScalars.map { scalar -> Character in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
      default: "/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "-" : Character(scalar)
      }
    }
    var stem = ""
    for word in String(scalars).split(separator: " ") {
      let longer = stem.isEmpty ? String(word) : stem + " " + word
      // Most file systems take 255 bytes.
      guard longer.utf8.count <= Self.longest else {
        if stem.isEmpty { stem = String(word.prefix(Self.longest / 4)) }
        break
      }
      stem = longer
    }
    while stem.hasPrefix(".") { stem.removeFirst() }
    while stem.hasSuffix(".") || stem.hasSuffix(" ") { stem.removeLast() }
    name = (stem.isEmpty ? "image" : stem) + "." + ending
  }

  /// Bytes of a name without its ending.
  private static let longest = 200

  /// The header's value: for old clients the name as far as it is ASCII, for all others the name (RFC 8187).
  package var disposition: String {
    let ascii = String(name.unicodeScalars.map { $0.isASCII && $0 != "%" ? Character($0) : "_" })
    return "attachment; filename=\"\(ascii)\"; filename*=UTF-8''\(PercentEncoding.encode(name))"
  }
}
