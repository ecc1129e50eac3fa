import Foundation
import Synchronization
package import TileStorage
import ZigguratFiles

/// A lock for Exiv2's XMP parser, of which the process has only one.
let exiv2 = Mutex(())

extension ImageMetadata {
  /// Reads the metadata in the file at `path`: XMP before IPTC before EXIF, as in the Metadata Working Group's
  /// guidelines. Empty if there is no readable metadata.
  package init(embeddedInFileAt path: String) {
    let identity = FileIdentity(path: path)
    if let identity, let known = Self.last.withLock({ $0 }), known.path == path, known.identity == identity {
      self = known.metadata
      return
    }
    self = exiv2.withLock { _ in MetadataFile.picture(path: path).map { ImageMetadata($0) } ?? ImageMetadata()
    }
    if let identity { Self.last.withLock { [self] in $0 = (path, identity, self) } }
  }

  /// Returns the metadata of a TIFF file in memory; empty if there is no file, or no readable metadata.
  package init(embeddedInTIFF bytes: [UInt8]?) {
    self = exiv2.withLock { _ in
      bytes.flatMap { MetadataFile(tiff: $0) }.map { ImageMetadata($0) } ?? ImageMetadata()
    }
  }

  /// The metadata of the last file, until the file is written to: its pages are built one after the other.
  private static let last = Mutex<(path: String, identity: FileIdentity, metadata: ImageMetadata)?>(nil)

  /// The authors of the fields.
  enum Origin {
    /// A camera or program, in a picture.
    case picture
    /// A person, or a person's program, in a file beside a picture.
    case sidecar
    /// A program, from a person's statements, in a document.
    case document
  }

  init(_ file: MetadataFile, of origin: Origin = .picture) {
    self.init()
    // In a picture, text may be a program's filler; in a sidecar, a person has written it.
    func written(_ text: String?) -> String? { origin == .picture ? Self.meaningfulText(text) : text }
    func titled(_ text: String?) -> String? {
      origin == .picture ? text.flatMap { MachineText.isSuspected($0, isTitle: true) ? nil : $0 } : text
    }
    title =
      titled(file.alternative("Xmp.dc.title")) ?? titled(file.text("Iptc.Application2.ObjectName"))
      ?? titled(file.text("Xmp.photoshop.Headline")) ?? titled(file.text("Iptc.Application2.Headline"))
      ?? Self.meaningfulText(file.text("Exif.Image.XPTitle")) ?? Self.meaningfulText(file.text("Png.Title"))
    titles = file.alternatives("Xmp.dc.title").filter { titled($0.value) != nil }
    caption =
      written(file.alternative("Xmp.dc.description")) ?? written(file.text("Iptc.Application2.Caption"))
      ?? Self.meaningfulText(file.text("Exif.Image.ImageDescription"))
      ?? Self.meaningfulText(Self.comment(file.text("Exif.Photo.UserComment")))
      ?? Self.meaningfulText(file.text("Exif.Image.XPComment"))
      ?? Self.meaningfulText(file.alternative("Xmp.exif.UserComment"))
      ?? Self.meaningfulText(file.text("Png.Description")) ?? Self.meaningfulText(file.text("Png.Comment"))
      ?? written(file.alternative("Xmp.iptc.ExtDescrAccessibility"))
      ?? written(file.alternative("Xmp.iptc.AltTextAccessibility"))
    creators = Self.unique(
      Self.first([
        file.texts("Xmp.dc.creator"), file.texts("Iptc.Application2.Byline"),
        Self.list(file.text("Exif.Image.Artist") ?? "", separators: ";"),
        Self.list(file.text("Exif.Image.XPAuthor") ?? "", separators: ";"), file.texts("Png.Author"),
      ]))
    readRights(file)
    date =
      origin == .document
      ? Self.date(of: file, Self.originalDates) : Self.cameraDate(of: file) ?? Self.date(of: file)
    place = Self.place(file)
    keywords = Self.unique(
      Self.first([
        file.texts("Xmp.dc.subject"), file.texts("Iptc.Application2.Keywords"),
        Self.leaves(file.texts("Xmp.digiKam.TagsList"), "/"),
        Self.leaves(file.texts("Xmp.lr.hierarchicalSubject"), "|"),
        Self.list(file.text("Exif.Image.XPKeywords") ?? "", separators: ";"),
      ]))
    bound()
    if origin != .sidecar { removePatients() }
  }

  private static func place(_ file: MetadataFile) -> String? {
    func location(_ name: String) -> [String] {
      // The first item of a list, or a structure in versions before 2010.
      [0, 1].lazy.map { number -> [String] in
        let base = "Xmp.iptcExt.\(name)" + (number == 0 ? "[1]" : "")
        return ["Sublocation", "City", "ProvinceState", "CountryName"].compactMap {
          file.text("\(base)/Iptc4xmpExt:\($0)")
        }
      }
      .first { !$0.isEmpty } ?? []
    }
    return first([
      ["Xmp.iptc.Location", "Xmp.photoshop.City", "Xmp.photoshop.State", "Xmp.photoshop.Country"]
        .compactMap { file.text($0) },
      ["SubLocation", "City", "ProvinceState", "CountryName"]
        .compactMap { file.text("Iptc.Application2.\($0)") },
      location("LocationCreated"), location("LocationShown"),
    ]).joined(separator: ", ").nilIfEmpty
  }

  /// Returns the last parts of hierarchical keywords such as `places/Portugal/Porto`.
  private static func leaves(_ paths: [String], _ separator: Character) -> [String] {
    paths.compactMap { $0.split(separator: separator).last?.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  /// Cuts texts and lists to the maximum lengths.
  mutating func bound() {
    for line in [\Self.title, \Self.place, \Self.rights, \Self.date] {
      self[keyPath: line] = self[keyPath: line].map { Self.cut($0, Self.maxLineLength) }
    }
    caption = caption.map { Self.cut($0, Self.maxTextLength) }
    creators = creators.prefix(Self.maxTexts).map { Self.cut($0, Self.maxLineLength) }
    keywords = keywords.prefix(Self.maxTexts).map { Self.cut($0, Self.maxLineLength) }
  }

  /// Removes fields about patients from all metadata: all of these fields are public.
  mutating func removePatients() {
    func clear(_ field: WritableKeyPath<Self, String?>) {
      if self[keyPath: field].map(MachineText.namesPatient) == true { self[keyPath: field] = nil }
    }
    creators.removeAll(where: MachineText.namesPatient)
    keywords.removeAll(where: MachineText.namesPatient)
    titles = titles.filter { !MachineText.namesPatient($0.value) }
    for field in [
      \Self.title, \.caption, \.place, \.rights, \.usageTerms, \.identifier, \.source, \.credit, \.date,
    ] {
      clear(field)
    }
  }

  private static func cameraDate(of file: MetadataFile) -> String? {
    guard let date = file.text("Exif.Photo.DateTimeOriginal").flatMap(isoDate) else { return nil }
    // EXIF dates have no zone, but EXIF has a separate field for it.
    guard date.wholeMatch(of: #/[\d-]+T[\d:.]+/#) != nil else { return date }
    return date + (file.text("Exif.Photo.OffsetTimeOriginal").flatMap { isoZone($0) } ?? "")
  }

  /// The dates of the content, and not of the file. The first possible date of Dublin Core's list is that of the
  /// original.
  private static let originalDates = ["Xmp.photoshop.DateCreated", "Xmp.dc.date"]

  private static func date(
    of file: MetadataFile,
    _ tags: [String] = [
      "Xmp.photoshop.DateCreated", "Xmp.exif.DateTimeOriginal", "Xmp.xmp.CreateDate", "Xmp.dc.date",
      "Iptc.Application2.DateCreated",
    ]
  ) -> String? {
    tags.lazy.flatMap(file.texts).compactMap(isoDate).first
  }

  /// Returns the text, or nil if it is a filler that cameras, microscopes and programs write without a person's action.
  private static func meaningfulText(_ text: String?) -> String? {
    text.flatMap { MachineText.isSuspected($0) ? nil : $0 }
  }

  /// Removes the encoding that Exiv2 puts before a comment, `charset=Ascii`; many comments have none.
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
