import Foundation
import ZigguratFiles

/// The valid names of uploaded files and of the images made of them.
package enum UploadName {
  /// The maximum length of a name in bytes of UTF-8.
  package static let maxLength = 120

  /// Returns a safe form of a user's file name, composed (NFC), not hidden and not too long. It has no folders, and no
  /// characters that are invisible or reverse the reading direction.
  ///
  /// - Returns: a name that is never empty.
  package static func file(_ given: String) -> String {
    let last = given.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    var name = String(
      String.UnicodeScalarView(last.precomposedStringWithCanonicalMapping.unicodeScalars.filter(isVisible)))
    name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    // By scalars: as a character, a dot may combine with an accent after it.
    while let first = name.unicodeScalars.first, [".", "~"].contains(first) {
      name.unicodeScalars.removeFirst()
    }
    guard !name.isEmpty else { return "picture" }
    // The pages of a document are in a folder with its name.
    if CatalogFile.isReserved(stem(name)) { name = "_" + name }
    guard name.utf8.count > maxLength else { return withoutArchiveName(name) }
    // A short extension is kept.
    let ending = name.lastIndex(of: ".").map { String(name[$0...]) }.flatMap { $0.utf8.count <= 8 ? $0 : nil }
    var stem = String(name.dropLast(ending?.count ?? 0))
    while stem.utf8.count > maxLength - 8 { stem.removeLast() }
    return withoutArchiveName(stem + (ending ?? ""))
  }

  /// Returns a name whose folder of pages is not the archive of another image. The pages of `a.szi.pdf` would be in a
  /// folder with the name of the archive of `a`.
  private static func withoutArchiveName(_ name: String) -> String {
    let folder = stem(name)
    guard ImageID.isArchiveName(folder), let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return name
    }
    return "\(folder.dropLast(4))-\(folder.suffix(3))\(name[dot...])"
  }

  /// Returns the name without its extension.
  package static func stem(_ file: String) -> String {
    guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return file }
    // Otherwise the name would end in the blanks before the extension.
    let stem = file[..<dot].trimmingCharacters(in: .whitespaces)
    return stem.isEmpty ? "picture" : stem
  }

  /// Returns a folder of the library, with `/` between its parts, empty for the library itself. Nil if no image's id
  /// may contain it.
  package static func folder(_ given: String) -> String? {
    guard !given.isEmpty else { return "" }
    let parts = given.split(separator: "/", omittingEmptySubsequences: false)
    let isSound = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.count <= maxLength
        && part.unicodeScalars.first.map { ![".", "~"].contains($0) } ?? false
        && !part.contains("\\") && part.unicodeScalars.allSatisfy(isVisible)
        && part.trimmingCharacters(in: .whitespaces) == part
    }
    guard isSound, parts.count <= 16, !CatalogFile.isReserved(given) else { return nil }
    return given.precomposedStringWithCanonicalMapping
  }

  /// Returns the part of a folder that has the name of an archive; nil if there is none.
  package static func archiveName(in folder: String) -> Substring? {
    folder.split(separator: "/").first(where: ImageID.isArchiveName)
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
