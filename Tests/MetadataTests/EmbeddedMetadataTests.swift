import Foundation
import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratMetadata

/// The metadata are written by ExifTool, which shares no code with Exiv2.
@Suite struct EmbeddedMetadataTests {
  private func read(_ arguments: [String], format: String = "jpg") throws -> ImageMetadata {
    let folder = try TemporaryFolder()
    let file = folder("picture.\(format)")
    try Tool.check(["vips", "black", file, "8", "8"])
    if !arguments.isEmpty {
      try Tool.check(
        ["exiftool", "-q", "-overwrite_original", "-m", "-charset", "UTF8"] + arguments + [file])
    }
    return ImageMetadata(embeddedInFileAt: file)
  }

  @Test func `Dublin Core's date is read if there is no other`() throws {
    #expect(try read(["-XMP-dc:Date=1872", "-XMP-dc:Date+=1873"]).date == "1872")
    #expect(try read(["-XMP-dc:Date=1872", "-XMP-photoshop:DateCreated=1871-05"]).date == "1871-05")
  }

  @Test func `a file without metadata has none`() throws {
    #expect(try read([]).isEmpty)
  }

  @Test(arguments: ["jpg", "png", "tif", "webp"])
  func `every field of XMP is read`(format: String) throws {
    let metadata = try read(
      [
        "-XMP-dc:Title-de=Blaue Stunde", "-XMP-dc:Title=Blue Hour",
        "-XMP-dc:Description=The harbour,\nafter rain. Füße, 港",
        "-XMP-dc:Creator=Example, Ada", "-XMP-dc:Creator=Bo Example", "-XMP-dc:Rights=CC BY 4.0",
        "-XMP-dc:Subject=harbour", "-XMP-dc:Subject=night", "-XMP-dc:Subject=harbour",
        "-XMP-iptcCore:Location=Jetty", "-XMP-photoshop:City=Porto", "-XMP-photoshop:Country=Portugal",
        "-XMP-photoshop:DateCreated=2024-05-01",
      ], format: format)
    var wanted = ImageMetadata(
      title: "Blue Hour", caption: "The harbour,\nafter rain. Füße, 港",
      creators: ["Example, Ada", "Bo Example"], date: "2024-05-01", place: "Jetty, Porto, Portugal",
      rights: "CC BY 4.0", keywords: ["harbour", "night"])
    wanted.titles = ["de": "Blaue Stunde"]
    #expect(metadata == wanted)
  }

  /// ExifTool puts items where Exiv2 does not find them, and EXIF without a name in front.
  @Test(arguments: ["avif", "heic"])
  func `fields that ExifTool adds are read`(format: String) throws {
    let xmp = ["-XMP-dc:Title=Blue Hour", "-XMP-dc:Creator=Ada", "-XMP-dc:Subject=harbour"]
    #expect(
      try read(xmp, format: format)
        == ImageMetadata(title: "Blue Hour", creators: ["Ada"], keywords: ["harbour"]))
    let exif = ["-EXIF:ImageDescription=The harbour", "-EXIF:Artist=Ada"]
    #expect(
      try read(exif, format: format) == ImageMetadata(caption: "The harbour", creators: ["Ada"]))
    #expect(
      try read(xmp + exif, format: format)
        == ImageMetadata(
          title: "Blue Hour", caption: "The harbour", creators: ["Ada"], keywords: ["harbour"]))
  }

  @Test func `every field of IPTC is read`() throws {
    let metadata = try read([
      "-IPTC:CodedCharacterSet=UTF8", "-IPTC:ObjectName=Blue Hour", "-IPTC:Caption-Abstract=Füße",
      "-IPTC:By-line=Ada Example", "-IPTC:CopyrightNotice=© Ada", "-IPTC:Keywords=harbour",
      "-IPTC:Keywords=night", "-IPTC:Sub-location=Jetty", "-IPTC:City=Porto",
      "-IPTC:Province-State=Norte", "-IPTC:Country-PrimaryLocationName=Portugal",
      "-IPTC:DateCreated=2024:05:01",
    ])
    #expect(
      metadata
        == ImageMetadata(
          title: "Blue Hour", caption: "Füße", creators: ["Ada Example"], date: "2024-05-01",
          place: "Jetty, Porto, Norte, Portugal", rights: "© Ada", keywords: ["harbour", "night"]))
  }

  @Test func `every field of EXIF is read`() throws {
    let metadata = try read([
      "-EXIF:ImageDescription=The harbour", "-EXIF:Artist=Ada Example", "-EXIF:Copyright=CC0",
      "-EXIF:DateTimeOriginal=2024:05:01 10:20:30", "-EXIF:OffsetTimeOriginal=+02:00",
      "-EXIF:XPTitle=Blue Hour 港",
    ])
    #expect(
      metadata
        == ImageMetadata(
          title: "Blue Hour 港", caption: "The harbour", creators: ["Ada Example"],
          date: "2024-05-01T10:20:30+02:00", rights: "CC0"))
  }

  @Test(arguments: ["The harbour", "港 by night"])
  func `a comment is read as a caption`(_ text: String) throws {
    #expect(try read(["-EXIF:UserComment=\(text)"]).caption == text)
  }

  /// As many cameras write it: a coding and blanks.
  @Test(arguments: ["", "   "]) func `a blank comment is ignored`(_ text: String) throws {
    #expect(try read(["-EXIF:UserComment=\(text)", "-EXIF:Artist=Ada"]).caption == nil)
  }

  @Test func `a Latin-1 description is readable`() throws {
    #expect(
      try read(["-charset", "EXIF=Latin1", "-EXIF:ImageDescription=Füße"]).caption == "Füße")
  }

  @Test(arguments: ["Füße", "“Ça”, l’été – €", "Ærø ½ ×"]) func `Latin-1 text is readable`(_ text: String)
    throws
  {
    let metadata = try read([
      "-charset", "IPTC=Latin1", "-IPTC:CodedCharacterSet=", "-IPTC:ObjectName=\(text)",
      "-IPTC:Caption-Abstract=\(text)", "-IPTC:By-line=\(text)", "-IPTC:City=\(text)",
      "-IPTC:CopyrightNotice=© \(text)",
    ])
    #expect(
      metadata
        == ImageMetadata(title: text, caption: text, creators: [text], place: text, rights: "© \(text)"))
  }

  @Test func `XMP precedes IPTC, and IPTC precedes EXIF`() throws {
    let all = ["-EXIF:ImageDescription=exif", "-IPTC:Caption-Abstract=iptc", "-XMP-dc:Description=xmp"]
    #expect(try read(all).caption == "xmp")
    #expect(try read(Array(all.prefix(2))).caption == "iptc")
    #expect(try read(Array(all.prefix(1))).caption == "exif")
  }

  @Test func `default texts of cameras are no captions`() throws {
    #expect(try read(["-EXIF:ImageDescription=OLYMPUS DIGITAL CAMERA"]).caption == nil)
    #expect(try read(["-EXIF:ImageDescription=      "]).caption == nil)
  }

  /// EXIF 2.32, section 4.6.5.4; IIM 4.2, data set 2:55; XMP, part 1, section 8.2.1.1; EDTF (ISO 8601-2).
  @Test(
    "dates become ISO 8601, and invalid ones are dropped",
    arguments: [
      ("2024:05:01 10:20:30", "2024-05-01T10:20:30"), ("2024-05-01 10:20:30", "2024-05-01T10:20:30"),
      ("2024:05:01   :  :  ", "2024-05-01"), ("0000:00:00 00:00:00", nil), ("2024:13:01 10:20:30", nil),
      ("    :  :     :  :  ", nil), ("yesterday", nil), ("2020:02:20 25:61:61", nil),
      ("2020:02:20 24:00:00", nil), ("2020:02:20 23:60:00", nil), ("2020:02:20 23:59:60", nil),
      ("\u{662}\u{660}\u{662}\u{664}:05:01 10:20:30", nil),
      ("2024", "2024"), ("2024-05", "2024-05"), ("2024-05-01T10:20", "2024-05-01T10:20"),
      ("2024-05-01T10:20:30.25-03:30", "2024-05-01T10:20:30.25-03:30"),
      ("2024-05-01T10:20Z", "2024-05-01T10:20Z"), ("2024-05-01T10:20:30+0200", "2024-05-01T10:20:30+02:00"),
      ("2024-05-01T10:20:30+99:99", nil), ("2024-05-01T10:20:30+14:30", nil),
      ("20240203", "2024-02-03"), ("20240203T102030Z", "2024-02-03T10:20:30Z"), ("20241345", nil),
      ("20240000", "2024"), ("2024-02-00", "2024-02"), ("2024-00-05", nil), ("0000-00-00", nil),
      ("0000", nil),
      ("2024-13-45", nil), ("2024-02-29", "2024-02-29"), ("2023-02-29", nil), ("1900-02-29", nil),
      ("2000-02-29", "2000-02-29"), ("2024-04-31", nil), ("202402", nil),
      ("1890/1895", "1890/1895"), ("1914-07/1918-11-11", "1914-07/1918-11-11"), ("1895/1890", nil),
      ("1890/", nil), ("circa 1890", "1890"), ("ca. 1890", "1890"), ("c1890", "1890"), ("1890~", "1890"),
      ("1890?", "1890"), ("circa 0000", nil),
    ] as [(String, String?)])
  func dates(text: String, date: String?) {
    #expect(ImageMetadata.isoDate(text) == date)
  }

  @Test("a valid date is found after an invalid one")
  func impossibleDates() throws {
    let xmp = "-XMP-photoshop:DateCreated=2021-03-04"
    #expect(try read(["-EXIF:DateTimeOriginal#=2020:02:20 25:61:61", xmp]).date == "2021-03-04")
    #expect(try read(["-EXIF:DateTimeOriginal#=2020:02:20 25:61:61"]).date == nil)
    #expect(
      try read(["-XMP-photoshop:DateCreated#=2024-13-45", "-IPTC:DateCreated=2021:03:04"]).date
        == "2021-03-04")
    #expect(try read(["-XMP-dc:Date#=0000-00-00", "-XMP-dc:Date#+=1873"]).date == "1873")
    #expect(
      try read(["-EXIF:DateTimeOriginal=2020:02:20 10:00:00", "-EXIF:OffsetTimeOriginal#=+99:99"]).date
        == "2020-02-20T10:00:00")
  }

  @Test func `a file that is no image or is truncated has no metadata`() throws {
    let folder = try TemporaryFolder()
    let file = folder("picture.jpg")
    try Tool.check(["vips", "black", file, "8", "8"])
    try Tool.check(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=Blue Hour", file])
    let whole = try Data(contentsOf: URL(filePath: file))
    for count in stride(from: 0, to: whole.count, by: 7) {
      try whole.prefix(count).write(to: URL(filePath: file))
      _ = ImageMetadata(embeddedInFileAt: file)
    }
    #expect(ImageMetadata(embeddedInFileAt: folder("none.jpg")).isEmpty)
  }

  /// Opened often: a heap that is freed twice may hold for a while.
  @Test func `damage that GExiv2 frees twice gives no metadata`() throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let file = fixtures.appending(path: "Fixtures/hostile/crash-3.tif").path
    #expect(FileManager.default.isReadableFile(atPath: file))
    for _ in 0..<100 { #expect(ImageMetadata(embeddedInFileAt: file).isEmpty) }
    for count in 0..<200 { #expect(try Sidecar(Array(repeating: 0x3c, count: count)) == nil) }
  }

  @Test func `metadata are read back from their JSON`() throws {
    let metadata = ImageMetadata(title: "a \"b\" </script>", keywords: ["x", "é"])
    #expect(ImageMetadata(json: Data(metadata.json)) == metadata)
    #expect(ImageMetadata(json: Data("[]".utf8)) == nil)
  }
}

extension EmbeddedMetadataTests {
  @Test func `rights and languages are read`() throws {
    let metadata = try read([
      "-XMP-dc:Title=Hase", "-XMP-dc:Title-en=Hare, \"young\"", "-XMP-cc:License=https://example.org/by",
      "-XMP-xmpRights:WebStatement=https://example.org/rights", "-XMP-xmpRights:UsageTerms=Ask",
      "-XMP-dc:Identifier=INV 1", "-XMP-photoshop:Source=Estate", "-XMP-photoshop:Credit=Museum",
    ])
    var wanted = ImageMetadata(title: "Hase")
    wanted.titles = ["en": "Hare, \"young\""]
    (wanted.license, wanted.webStatement) = ("https://example.org/by", "https://example.org/rights")
    (wanted.usageTerms, wanted.identifier) = ("Ask", "INV 1")
    (wanted.source, wanted.credit) = ("Estate", "Museum")
    #expect(metadata == wanted)
    #expect(ImageMetadata(json: Data(metadata.json)) == wanted)
  }

  @Test func `a license that is no URL is text`() throws {
    let metadata = try read(["-XMP-xmpRights:WebStatement=javascript:alert(1)", "-XMP-cc:License=by"])
    #expect((metadata.license, metadata.webStatement) == (nil, nil))
    #expect(metadata.usageTerms == "javascript:alert(1)")
    #expect(try read(["-XMP-cc:License=CC BY 4.0"]).usageTerms == "CC BY 4.0")
    let both = try read(["-XMP-cc:License=CC BY 4.0", "-XMP-xmpRights:UsageTerms=Ask"])
    #expect((both.license, both.usageTerms) == (nil, "Ask"))
  }

  @Test func `a record of an earlier version is read`() {
    let json = "{\"creator\": \"A; B\", \"keywords\": [\"k\"], \"title\": \"T\"}"
    #expect(
      ImageMetadata(json: Data(json.utf8))
        == ImageMetadata(title: "T", creators: ["A; B"], keywords: ["k"]))
  }
}

/// Fields that programs write besides the usual ones.
extension EmbeddedMetadataTests {
  @Test(
    "keywords of Windows, Lightroom and digiKam are read",
    arguments: [
      (["-EXIF:XPKeywords=one;two"], ["one", "two"]),
      (
        ["-XMP-lr:HierarchicalSubject=places|Portugal|Porto", "-XMP-lr:HierarchicalSubject=night"],
        ["Porto", "night"]
      ),
      (["-XMP-digiKam:TagsList=places/Porto", "-XMP-digiKam:TagsList=night"], ["Porto", "night"]),
      (["-XMP-digiKam:TagsList=places/Porto", "-XMP-dc:Subject=harbour"], ["harbour"]),
    ] as [([String], [String])])
  func keywords(arguments: [String], wanted: [String]) throws {
    #expect(try read(arguments).keywords == wanted)
  }

  @Test func `the place of capture precedes the place that is shown`() throws {
    let shown = ["-XMP-iptcExt:LocationShownCity=Faro"]
    let created = [
      "-XMP-iptcExt:LocationCreatedSublocation=Jetty", "-XMP-iptcExt:LocationCreatedCity=Porto",
      "-XMP-iptcExt:LocationCreatedProvinceState=Norte", "-XMP-iptcExt:LocationCreatedCountryName=Portugal",
    ]
    #expect(try read(shown).place == "Faro")
    #expect(try read(shown + created).place == "Jetty, Porto, Norte, Portugal")
    #expect(try read(created + ["-XMP-photoshop:City=Braga"]).place == "Braga")
  }

  @Test func `an alternative text is the caption if there is no other`() throws {
    let alt = ["-XMP-iptcCore:AltTextAccessibility=A bridge"]
    #expect(try read(alt).caption == "A bridge")
    #expect(try read(alt + ["-XMP-dc:Description=Dom Luís"]).caption == "Dom Luís")
  }

  @Test func `titles may contain text that looks like a language mark`() throws {
    let title = "Called A, lang=\"en\" B"
    #expect(try read(["-XMP-dc:Title=\(title)"]).title == title)
    let several = try read(["-XMP-dc:Title=\(title)", "-XMP-dc:Title-de=Ä, lang=\"fr\" B"])
    #expect(several.title == title && several.titles == ["de": "Ä, lang=\"fr\" B"])
  }

  @Test func `texts that look like defaults or settings are kept`() throws {
    #expect(try read(["-XMP-dc:Title=Default"]).title == "Default")
    #expect(try read(["-XMP-dc:Description=a = b; c = d"]).caption == "a = b; c = d")
  }

  @Test func `no field names a patient, including titles in other languages`() {
    var metadata = ImageMetadata(title: "Slide 7")
    metadata.titles = ["de": "Patient Name: Jane Roe", "fr": "Lame 7"]
    (metadata.caption, metadata.creators) = ("PatientID: 12345", ["PatientName: ROE^JANE", "A. Lab"])
    metadata.removePatients()
    #expect(metadata.titles == ["fr": "Lame 7"])
    #expect(metadata.title == "Slide 7")
    #expect(metadata.caption == nil)
    #expect(metadata.creators == ["A. Lab"])
  }

  @Test func `texts of PNG are read, including compressed ones`() throws {
    let long = String(repeating: "The harbour after rain. ", count: 20) + "Füße"
    let metadata = try read(
      ["-z", "-PNG:Title=Blue Hour", "-PNG:Author=Ada", "-PNG:Description=\(long)", "-PNG:Copyright=CC0"],
      format: "png")
    #expect(
      metadata == ImageMetadata(title: "Blue Hour", caption: long, creators: ["Ada"], rights: "CC0"))
    #expect(try read(["-PNG:Title=Text", "-XMP-dc:Title=XMP"], format: "png").title == "XMP")
  }

  @Test func `XMP is read in a GIF, and if it is too long for one segment`() throws {
    #expect(try read(["-XMP-dc:Title=Blue Hour", "-XMP-dc:Creator=Ada"], format: "gif").title == "Blue Hour")
    let folder = try TemporaryFolder()
    try folder.write("long.txt", Array(String(repeating: "rain ", count: 30_000).utf8))
    let extended = try read(["-XMP-dc:Description<=\(folder("long.txt"))", "-XMP-dc:Title=Short"])
    #expect(extended.title == "Short" && extended.caption?.hasPrefix("rain rain rain") == true)
    #expect(extended.caption?.count ?? 0 <= 20_000)
  }

  @Test func `fields of excessive length are cut`() throws {
    let folder = try TemporaryFolder()
    try folder.write("long.txt", Array(String(repeating: "rain ", count: 30_000).utf8))
    let metadata = try read([
      "-IPTC:Caption-Abstract<=\(folder("long.txt"))", "-XMP-dc:Title<=\(folder("long.txt"))",
      "-XMP-dc:Creator<=\(folder("long.txt"))",
    ])
    #expect(metadata.caption?.unicodeScalars.count == 20_000)
    #expect(
      metadata.title?.unicodeScalars.count == 1000 && metadata.creators.map(\.unicodeScalars.count) == [1000])
  }

  @Test("an invalid character loses no other", arguments: [[0x01], [0xfc]] as [[UInt8]])
  func badCharacters(bytes: [UInt8]) throws {
    let folder = try TemporaryFolder()
    let file = folder("picture.jpg")
    try Tool.check(["vips", "black", file, "8", "8"])
    try Tool.check([
      "exiftool", "-q", "-overwrite_original", "-XMP-dc:Title=Blue@Hour", "-XMP-dc:Creator=Ada", file,
    ])
    var data = try Data(contentsOf: URL(filePath: file))
    let place = try #require(data.firstRange(of: Data("Blue@Hour".utf8)))
    data[place.lowerBound + 4] = bytes[0]
    try data.write(to: URL(filePath: file))
    let metadata = ImageMetadata(embeddedInFileAt: file)
    #expect(metadata.title == (bytes == [0x01] ? "Blue Hour" : "BlueüHour") && metadata.creators == ["Ada"])
  }

  @Test func `list items may have languages`() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      "a.xmp",
      Array(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator><rdf:Seq>
        <rdf:li xml:lang="en">Ada</rdf:li><rdf:li>Bo</rdf:li></rdf:Seq></dc:creator>
        <dc:title><rdf:Alt><rdf:li>Blue Hour</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>
        """.utf8))
    let metadata = try read(["-XMP<=\(folder("a.xmp"))"])
    #expect(metadata.creators == ["Ada", "Bo"] && metadata.title == "Blue Hour" && metadata.titles.isEmpty)
  }
}
