import TileStorage

extension ImageMetadata {
  /// The maximum length of a line and of a text, in Unicode scalars.
  static let (maxLineLength, maxTextLength) = (1000, 20_000)
  /// The maximum number of creators, and of keywords, of one picture.
  static let maxTexts = 1000

  /// Reads the rights in the picture and its source.
  mutating func readRights(_ file: MetadataFile) {
    func line(_ tags: String...) -> String? {
      tags.lazy.compactMap { file.text($0) }.first.map { Self.cut($0, Self.maxLineLength) }
    }
    /// Returns the tag's web address. Any other text, such as `CC BY 4.0`, becomes the usage terms if there are none.
    func address(_ tag: String) -> String? {
      guard let text = file.text(tag) else { return nil }
      if let address = Self.webAddress(text) { return address }
      if usageTerms == nil { usageTerms = Self.cut(text, Self.maxTextLength) }
      return nil
    }
    rights =
      file.alternative("Xmp.dc.rights") ?? file.text("Iptc.Application2.Copyright")
      ?? file.text("Exif.Image.Copyright") ?? file.text("Png.Copyright")
    usageTerms = file.alternative("Xmp.xmpRights.UsageTerms").map { Self.cut($0, Self.maxTextLength) }
    webStatement = address("Xmp.xmpRights.WebStatement")
    license = address("Xmp.cc.license")
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
