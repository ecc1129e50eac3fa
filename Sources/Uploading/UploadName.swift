import Foundation
import ZigguratFiles

/// The valid names of uploaded files and of the images made of them.
package enum UploadName {
  /// Bytes of a name in UTF-8.
  package static let longest = 120

  /// A file's name as a person may give it, made harmless: without folders, without characters that cannot be
  /// seen or turn the reading direction round, composed (NFC), not hidden, not too long.
  ///
  /// - Returns: never empty.
  package static func file(_ given: String) -> String {
    let last = given.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    var name = String(
      String.UnicodeScalarView(last.precomposedStringWithCanonicalMapping.unicodeScalars.filter(isVisible)))
    name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    // By scalars: an accent behind a dot does not make it another.
    while let first = name.unicodeScalars.first, [".", "~"].contains(first) {
      name.unicodeScalars.removeFirst()
    }
    guard !name.isEmpty else { return "picture" }
    // The pages of a document lie in a folder of its name.
    if CatalogFile.isReserved(stem(name)) { name = "_" + name }
    guard name.utf8.count > longest else { return withoutArchiveName(name) }
    // The ending is kept, should it be one.
    let ending = name.lastIndex(of: ".").map { String(name[$0...]) }.flatMap { $0.utf8.count <= 8 ? $0 : nil }
    var stem = String(name.dropLast(ending?.count ?? 0))
    while stem.utf8.count > longest - 8 { stem.removeLast() }
    return withoutArchiveName(stem + (ending ?? ""))
  }

  /// The pages of `a.szi.pdf` would lie in a folder that has the name of the archive of `a`.
  private static func withoutArchiveName(_ name: String) -> String {
    let folder = stem(name)
    guard ImageID.isArchiveName(folder), let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return name
    }
    return "\(folder.dropLast(4))-\(folder.suffix(3))\(name[dot...])"
  }

  /// The name without its ending.
  package static func stem(_ file: String) -> String {
    guard let dot = file.lastIndex(of: "."), dot > file.startIndex else { return file }
    // Blanks in front of the ending would end the name.
    let stem = file[..<dot].trimmingCharacters(in: .whitespaces)
    return stem.isEmpty ? "picture" : stem
  }

  /// A folder of the library, `/` between parts, empty for the library itself; nil where it is none that an
  /// image's id may name.
  package static func folder(_ given: String) -> String? {
    guard !given.isEmpty else { return "" }
    let parts = given.split(separator: "/", omittingEmptySubsequences: false)
    let isSound = parts.allSatisfy { part in
      !part.isEmpty && part.utf8.count <= longest
        && part.unicodeScalars.first.map { ![".", "~"].contains($0) } ?? false
        && !part.contains("\\") && part.unicodeScalars.allSatisfy(isVisible)
        && part.trimmingCharacters(in: .whitespaces) == part
    }
    guard isSound, parts.count <= 16, !CatalogFile.isReserved(given) else { return nil }
    return given.precomposedStringWithCanonicalMapping
  }

  /// Returns the part of a folder that has an archive's name; nil if there is none.
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
