import Files
import Foundation
import Synchronization
package import TileStorage

/// Exiv2's XMP parser is one for the whole process.
let exiv2 = Mutex(())

extension ImageMetadata {
  /// What the file at `path` says of itself: XMP before IPTC before EXIF, as the Metadata Working Group's
  /// guidelines have it. Empty where it says nothing, or nothing readable.
  package init(embeddedInFileAt path: String) {
    let identity = FileIdentity(path: path)
    if let identity, let known = Self.last.withLock({ $0 }), known.path == path, known.identity == identity {
      self = known.metadata
      return
    }
    self = exiv2.withLock { _ in MetadataFile(path: path).map { ImageMetadata($0) } ?? ImageMetadata() }
    if let identity { Self.last.withLock { [self] in $0 = (path, identity, self) } }
  }

  /// That of the last file, until it is written to: its pages are built one after the other.
  private static let last = Mutex<(path: String, identity: FileIdentity, metadata: ImageMetadata)?>(nil)

  /// - Parameter isSidecar: whether a person or a program of theirs wrote the fields.
  init(_ file: MetadataFile, isSidecar: Bool = false) {
    self.init()
    // What a program filled in nobody has written; what is beside a picture somebody has.
    func written(_ text: String?) -> String? { isSidecar ? text : Self.words(text) }
    title =
      written(file.alternative("Xmp.dc.title")) ?? written(file.text("Iptc.Application2.ObjectName"))
      ?? written(file.text("Xmp.photoshop.Headline")) ?? written(file.text("Iptc.Application2.Headline"))
      ?? Self.words(file.text("Exif.Image.XPTitle"))
    titles = file.alternatives("Xmp.dc.title").filter { written($0.value) != nil }
    caption =
      written(file.alternative("Xmp.dc.description")) ?? written(file.text("Iptc.Application2.Caption"))
      ?? Self.words(file.text("Exif.Image.ImageDescription"))
      ?? Self.words(Self.comment(file.text("Exif.Photo.UserComment")))
      ?? Self.words(file.text("Exif.Image.XPComment"))
      ?? Self.words(file.alternative("Xmp.exif.UserComment"))
    creators = Self.unique(
      Self.first([
        file.texts("Xmp.dc.creator"), file.texts("Iptc.Application2.Byline"),
        Self.artists(file.text("Exif.Image.Artist")),
      ]))
    readRights(file)
    date = Self.cameraDate(of: file) ?? Self.date(of: file)
    place =
      Self.first([
        ["Xmp.iptc.Location", "Xmp.photoshop.City", "Xmp.photoshop.State", "Xmp.photoshop.Country"]
          .compactMap { file.text($0) },
        ["SubLocation", "City", "ProvinceState", "CountryName"]
          .compactMap { file.text("Iptc.Application2.\($0)") },
      ]).joined(separator: ", ").nilIfEmpty
    keywords = Self.unique(
      Self.first([file.texts("Xmp.dc.subject"), file.texts("Iptc.Application2.Keywords")]))
    if !isSidecar { removePatients() }
  }

  /// Removes fields about patients wherever a program wrote them: all of these fields are public.
  private mutating func removePatients() {
    func clear(_ field: WritableKeyPath<Self, String?>) {
      if self[keyPath: field].map(MachineText.namesPatient) == true { self[keyPath: field] = nil }
    }
    creators.removeAll(where: MachineText.namesPatient)
    keywords.removeAll(where: MachineText.namesPatient)
    for field in [\Self.place, \.rights, \.usageTerms, \.identifier, \.source, \.credit, \.date] {
      clear(field)
    }
  }

  private static func cameraDate(of file: MetadataFile) -> String? {
    guard let date = file.text("Exif.Photo.DateTimeOriginal").flatMap(isoDate) else { return nil }
    // EXIF has no zone in its dates, but a field of its own.
    guard date.wholeMatch(of: #/[\d-]+T[\d:.]+/#) != nil else { return date }
    return date + (file.text("Exif.Photo.OffsetTimeOriginal").flatMap { isoZone($0) } ?? "")
  }

  private static func date(of file: MetadataFile) -> String? {
    // The first possible date of Dublin Core's list is that of the original.
    let tags = [
      "Xmp.photoshop.DateCreated", "Xmp.exif.DateTimeOriginal", "Xmp.xmp.CreateDate", "Xmp.dc.date",
      "Iptc.Application2.DateCreated",
    ]
    return tags.lazy.flatMap(file.texts).compactMap(isoDate).first
  }

  /// What cameras, microscopes and programs fill in unasked is nobody's caption.
  private static func words(_ text: String?) -> String? {
    text.flatMap { MachineText.isSuspected($0) ? nil : $0 }
  }

  /// EXIF has all of them in one text (EXIF 2.32, section 4.6.5.6.2; Metadata Working Group's guidelines, 2.0).
  private static func artists(_ text: String?) -> [String] {
    (text ?? "").split(separator: ";").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      .filter { !$0.isEmpty }
  }

  /// Exiv2 tells of a comment how it was coded, `charset=Ascii` in front of the words; many have none.
  private static func comment(_ text: String?) -> String? {
    text?.replacing(#/^charset="?\w+"?\s*/#, with: "").nilIfEmpty
  }

  static func first(_ lists: [[String]]) -> [String] { lists.first { !$0.isEmpty } ?? [] }

  static func unique(_ texts: [String]) -> [String] {
    var seen: Set<String> = []
    return texts.filter { seen.insert($0).inserted }
  }
}

extension String {
  var nilIfEmpty: String? { isEmpty ? nil : self }
}
