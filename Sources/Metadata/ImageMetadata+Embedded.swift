import Foundation
import Synchronization
package import TileStorage

/// Exiv2's XMP parser is one for the whole process.
let exiv2 = Mutex(())

extension ImageMetadata {
  /// What the file at `path` says of itself: XMP before IPTC before EXIF, as the Metadata Working Group's
  /// guidelines have it. Empty where it says nothing, or nothing readable.
  package init(embeddedInFileAt path: String) {
    self = exiv2.withLock { _ in MetadataFile(path: path).map { ImageMetadata($0) } ?? ImageMetadata() }
  }

  /// - Parameter isSidecar: all that is said is XMP; Exiv2 makes EXIF of it, whose dates always have a time.
  init(_ file: MetadataFile, isSidecar: Bool = false) {
    self.init()
    title =
      file.alternative("Xmp.dc.title") ?? file.text("Iptc.Application2.ObjectName")
      ?? file.text("Xmp.photoshop.Headline") ?? file.text("Iptc.Application2.Headline")
      ?? file.text("Exif.Image.XPTitle")
    caption =
      file.alternative("Xmp.dc.description") ?? file.text("Iptc.Application2.Caption")
      ?? Self.words(file.text("Exif.Image.ImageDescription"))
      ?? Self.comment(file.text("Exif.Photo.UserComment"))
      ?? file.text("Exif.Image.XPComment")
    creator =
      Self.first([
        file.texts("Xmp.dc.creator"), file.texts("Iptc.Application2.Byline"), file.texts("Exif.Image.Artist"),
      ]).joined(separator: "; ").nilIfEmpty
    rights =
      file.alternative("Xmp.dc.rights") ?? file.text("Iptc.Application2.Copyright")
      ?? file.text("Exif.Image.Copyright")
    date = (isSidecar ? nil : Self.cameraDate(of: file)) ?? Self.date(of: file)
    place =
      Self.first([
        ["Xmp.iptc.Location", "Xmp.photoshop.City", "Xmp.photoshop.State", "Xmp.photoshop.Country"]
          .compactMap { file.text($0) },
        ["SubLocation", "City", "ProvinceState", "CountryName"]
          .compactMap { file.text("Iptc.Application2.\($0)") },
      ]).joined(separator: ", ").nilIfEmpty
    keywords = Self.unique(
      Self.first([file.texts("Xmp.dc.subject"), file.texts("Iptc.Application2.Keywords")]))
  }

  private static func cameraDate(of file: MetadataFile) -> String? {
    guard let date = file.text("Exif.Photo.DateTimeOriginal").flatMap(isoDate) else { return nil }
    return date + (file.text("Exif.Photo.OffsetTimeOriginal").flatMap(isoZone) ?? "")
  }

  private static func date(of file: MetadataFile) -> String? {
    for tag in ["Xmp.photoshop.DateCreated", "Xmp.exif.DateTimeOriginal", "Xmp.xmp.CreateDate"] {
      if let text = file.text(tag), text.wholeMatch(of: isoPattern) != nil { return text }
    }
    if let text = file.text("Iptc.Application2.DateCreated"), text.wholeMatch(of: isoPattern) != nil {
      return text
    }
    return nil
  }

  /// `2024:05:01 10:20:30`, where cameras without a clock write zeros or blanks.
  static func isoDate(exif text: String) -> String? {
    // Every script has digits, and Int reads ASCII's alone.
    let pattern = #/(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/#.asciiOnlyDigits()
    guard let match = text.wholeMatch(of: pattern) else { return nil }
    let (_, year, month, day, time) = match.output
    guard Int(year)! > 0, (1...12).contains(Int(month)!), (1...31).contains(Int(day)!) else { return nil }
    return "\(year)-\(month)-\(day)T\(time)"
  }

  private static func isoZone(_ text: String) -> String? {
    text.wholeMatch(of: #/[+-]\d\d:\d\d|Z/#.asciiOnlyDigits()).map { String($0.output) }
  }

  private static var isoPattern: Regex<Substring> {
    #/\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)?/#
      .asciiOnlyDigits()
  }

  /// What cameras fill the description with unasked is nobody's caption.
  private static func words(_ text: String?) -> String? {
    let fillers = [
      "OLYMPUS DIGITAL CAMERA", "SONY DSC", "KONICA MINOLTA DIGITAL CAMERA", "MINOLTA DIGITAL CAMERA",
    ]
    return text.flatMap { fillers.contains($0) ? nil : $0 }
  }

  /// Exiv2 tells of a comment how it was coded, `charset=Ascii` in front of the words; many have none.
  private static func comment(_ text: String?) -> String? {
    text?.replacing(#/^charset="?\w+"?\s*/#, with: "").nilIfEmpty
  }

  private static func first(_ lists: [[String]]) -> [String] { lists.first { !$0.isEmpty } ?? [] }

  private static func unique(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }
}

extension String {
  fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }
}
