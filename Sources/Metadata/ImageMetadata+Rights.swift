import TileStorage

extension ImageMetadata {
  /// Unicode scalars that a line of these words may have, and a text.
  static let (longestLine, longestText) = (1000, 20_000)
  /// Creators, and keywords, of one picture.
  static let mostTexts = 1000

  /// Who may do what with the picture, and where it is from.
  mutating func readRights(_ file: MetadataFile) {
    func line(_ tags: String...) -> String? {
      tags.lazy.compactMap { file.text($0) }.first.map { Self.cut($0, Self.longestLine) }
    }
    rights =
      file.alternative("Xmp.dc.rights") ?? file.text("Iptc.Application2.Copyright")
      ?? file.text("Exif.Image.Copyright") ?? file.text("Png.Copyright")
    license = file.text("Xmp.cc.license").flatMap(Self.webAddress)
    usageTerms = file.alternative("Xmp.xmpRights.UsageTerms").map { Self.cut($0, Self.longestText) }
    if let statement = file.text("Xmp.xmpRights.WebStatement") {
      webStatement = Self.webAddress(statement)
      // What is no address is words all the same.
      if webStatement == nil, usageTerms == nil { usageTerms = Self.cut(statement, Self.longestText) }
    }
    identifier = line("Xmp.dc.identifier")
    source = line("Xmp.photoshop.Source", "Iptc.Application2.Source")
    credit = line("Xmp.photoshop.Credit", "Iptc.Application2.Credit")
  }

  static func cut(_ text: String, _ count: Int) -> String {
    var part = String.UnicodeScalarView()
    part.append(contentsOf: text.unicodeScalars.prefix(count))
    return String(part)
  }
}
