import Foundation
import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratMetadata

@Suite struct SidecarTests {
  private func edit(_ title: String? = nil, _ caption: String? = nil, _ keywords: [String]? = nil)
    -> MetadataEdit
  {
    var edit = try! MetadataEdit(json: Array("{\"title\": \"x\"}".utf8))
    (edit.title, edit.caption, edit.keywords) = (title, caption, keywords)
    return edit
  }

  private static let awkward = [
    "plain", "<script>alert(1)</script>", "\"quotes\" & 'more' ]]> &amp;", "lang=\"de\" Wort", "type=Bag x",
    "a \u{202e}right\u{2066}to left", "💥 Ä 橋", "<svg onload=\"x\"/>", "=", "{}[]/*?",
  ]

  @Test(arguments: awkward) func `written fields are read back`(_ text: String) throws {
    let bytes = try #require(
      try Sidecar.edited([], edit(text, "\(text)\n\n\(text)", [text, "second", text + "!"])))
    let read = try #require(try Sidecar(bytes)).applied(to: ImageMetadata(title: "own", creators: ["C"]))
    #expect(
      read
        == ImageMetadata(
          title: text, caption: "\(text)\n\n\(text)", creators: ["C"], keywords: [text, "second", text + "!"])
    )
  }

  /// Characters that make one with what stands beside them, be it a quote or a bracket.
  @Test func `text of any characters is read as it was written`() throws {
    var random = SplitMix(SplitMix.runSeed)
    let parts = [
      "\u{301}", "\u{200d}", "\u{fe0f}", "\u{e0061}", "\u{600}", "\u{feff}", "\u{200b}", "\u{202e}", "\u{ad}",
      "<", ">", "&", "\"",
      "'", " ", ", ", "lang=\"de\" ", "=", "a", "é", "🇩", "🇪", "x-default", ";", "/", "]]>", "\u{1f468}",
    ]
    func text(_ count: Int) -> String {
      // In a text, that is indistinguishable from the mark of another language.
      (0..<count).map { _ in parts[random.below(parts.count)] }.joined().replacing(", lang=", with: ",lang=")
    }
    func scalars(_ text: String?) -> [Unicode.Scalar] { (text ?? "").unicodeScalars.map { $0 } }
    var bytes: [UInt8] = []
    for _ in 0..<300 {
      let wanted: [String: Any] = [
        "title": text(1 + random.below(4)), "caption": text(1 + random.below(6)),
        "keywords": (0..<3).map { _ in text(1 + random.below(3)) },
      ]
      let edit = try MetadataEdit(json: Array(JSONSerialization.data(withJSONObject: wanted)))
      bytes = try #require(try Sidecar.edited(random.below(2) == 0 ? [] : bytes, edit), "\(wanted)")
      let read = try #require(try Sidecar(bytes)).applied(to: ImageMetadata())
      #expect(scalars(read.title) == scalars(edit.title), "\(wanted), seed \(SplitMix.runSeed)")
      #expect(scalars(read.caption) == scalars(edit.caption), "\(wanted), seed \(SplitMix.runSeed)")
      #expect(
        read.keywords.map(scalars) == edit.keywords?.map(scalars), "\(wanted), seed \(SplitMix.runSeed)")
      #expect(read.titles.isEmpty)
    }
  }

  @Test func `text that could not be read back is not written`() throws {
    let xmp =
      "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
      + "<rdf:Description rdf:about='' xmlns:q='http://example.org/p\"q/'><q:City>Here</q:City></rdf:Description>"
      + "</rdf:RDF></x:xmpmeta>"
    #expect(try Sidecar(Array(xmp.utf8)) != nil)
    if let edited = try Sidecar.edited(Array(xmp.utf8), edit(nil, "new")) {
      #expect(try #require(try Sidecar(edited)).applied(to: ImageMetadata()).caption == "new")
    }
  }

  @Test func `cleared fields stay empty until they are set again`() throws {
    let own = ImageMetadata(title: "own", caption: "own", keywords: ["own"])
    var bytes = try #require(try Sidecar.edited([], edit("", "", [])))
    #expect(try #require(try Sidecar(bytes)).applied(to: own) == ImageMetadata())
    bytes = try #require(try Sidecar.edited(bytes, edit(nil, "new")))
    #expect(try #require(try Sidecar(bytes)).applied(to: own) == ImageMetadata(caption: "new"))
    bytes = try #require(try Sidecar.edited(bytes, edit("t", nil, ["k"])))
    #expect(
      try #require(try Sidecar(bytes)).applied(to: own)
        == ImageMetadata(title: "t", caption: "new", keywords: ["k"]))
  }

  @Test func `an edit keeps all other properties`() throws {
    let folder = try TemporaryFolder()
    let other = """
      <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
      xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
      xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
      xmlns:darktable="http://darktable.sf.net/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
      xmlns:mine="http://example.org/mine/" xmp:Rating="4" mine:note="kept" darktable:xmp_version="5">
      <dc:title><rdf:Alt><rdf:li xml:lang="x-default">Old</rdf:li><rdf:li xml:lang="de">Alt</rdf:li></rdf:Alt></dc:title>
      <lr:hierarchicalSubject><rdf:Bag><rdf:li>a|b</rdf:li></rdf:Bag></lr:hierarchicalSubject>
      <darktable:history><rdf:Seq><rdf:li darktable:num="0" darktable:operation="exposure"/></rdf:Seq></darktable:history>
      </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
      """
    let before = try #require(try Sidecar(Array(other.utf8))).applied(to: ImageMetadata())
    #expect((before.title, before.titles) == ("Old", ["de": "Alt"]))
    let bytes = try #require(try Sidecar.edited(Array(other.utf8), edit("New", "Words", ["one"])))
    let path = try folder.write("image.xmp", bytes)
    func tag(_ name: String) throws -> String {
      try Tool.check(["exiftool", "-s3", "-struct", "-" + name, path]).trimmingCharacters(
        in: .whitespacesAndNewlines)
    }
    #expect(try tag("XMP-dc:Title") == "New")
    #expect(try tag("XMP-dc:Title-de") == "Alt")
    #expect(try tag("XMP-dc:Description") == "Words")
    #expect(try tag("XMP-dc:Subject") == "[one]" || tag("XMP-dc:Subject") == "one")
    #expect(try tag("XMP-xmp:Rating") == "4")
    let text = String(decoding: bytes, as: UTF8.self)
    for part in ["a|b", "exposure", "mine:note", "kept", "xmp_version"] { #expect(text.contains(part)) }
  }

  /// Exiv2 makes IPTC of a sidecar's XMP, in which such a date is "1890-00-00" or "2024-00-00".
  @Test(
    "a sidecar's date is that of its XMP, and an invalid one replaces none",
    arguments: [
      ("1890/1895", "1890/1895"), ("20240203", "2024-02-03"), ("circa 1890", "1890"), ("2024-13-45", "2020"),
      ("0000-00-00", "2020"), ("2024-05-01T25:00:00", "2020"), ("2024-05", "2024-05"),
      ("2024-05-01", "2024-05-01"),
    ])
  func dates(text: String, date: String) throws {
    let xmp = """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about="" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:DateCreated="\(text)"/>
      </rdf:RDF></x:xmpmeta>
      """
    let sidecar = try #require(try Sidecar(Array(xmp.utf8)))
    #expect(sidecar.applied(to: ImageMetadata(date: "2020")).date == date)
  }

  @Test(arguments: ["de", "x-de)ault", "a b", "", "a&quot;b", "&quot;&quot; c&quot; "])
  func `an edit is read back whatever the previous language was`(_ language: String) throws {
    let other = """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
      <rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>
      <rdf:li xml:lang="\(language)">Old</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>
      """
    let bytes = try #require(try Sidecar.edited(Array(other.utf8), edit(nil, "New, and more")))
    #expect(try #require(try Sidecar(bytes)).applied(to: ImageMetadata()).caption == "New, and more")
  }

  @Test(arguments: ["", "garbage", "<x:xmpmeta", "<html/>", "\u{0}\u{0}"])
  func `a file that is no sidecar is neither read nor overwritten`(_ text: String) throws {
    let bytes = Array(text.utf8)
    #expect(try Sidecar(bytes) == nil)
    if !bytes.isEmpty { #expect(try Sidecar.edited(bytes, edit("x")) == nil) }
  }

  /// The cost of such a body grew with its depth times its length: 29 s of a processor for this one.
  @Test func `a nested body is rejected at once`() throws {
    let opened = String(repeating: "[", count: 505)
    let many = String(repeating: "1,", count: 4000)
    for value in [
      "\(opened)\(many)1\(String(repeating: "]", count: 505))", "[\(many)1]", "{\"a\": [\(many)1]}",
    ] {
      let time = ContinuousClock().measure {
        _ = #expect(throws: MetadataEdit.ValidationError.self) {
          try MetadataEdit(json: Array("{\"keywords\": \(value)}".utf8))
        }
      }
      #expect(time < .seconds(5))
    }
  }

  @Test(arguments: [
    ("[]", "JSON object"), ("{", "JSON object"), ("{}", "no field is given"), ("{\"id\": \"x\"}", "'id'"),
    ("{\"title\": 1}", "title takes a text"), ("{\"keywords\": \"x\"}", "list"),
    ("{\"keywords\": [1]}", "a keyword takes"), ("{\"keywords\": [[\"x\"]]}", "a keyword takes"),
    ("{\"keywords\": {\"x\": 1}}", "list"), ("{\"title\": [\"x\"]}", "title takes a text"),
    ("{\"title\": \"a\\u0000b\"}", "control"),
    ("{\"title\": \"a\\nb\"}", "control"), ("{\"caption\": \"\\uffff\"}", "control"),
    ("{\"keywords\": [\"a\\u001bb\"]}", "control"),
  ]) func `values that no sidecar can store are rejected`(_ json: String, _ message: String) throws {
    let error = #expect(throws: MetadataEdit.ValidationError.self) {
      try MetadataEdit(json: Array(json.utf8))
    }
    #expect(try #require(error).reason.contains(message))
  }

  @Test func `a body of too many values is rejected with one error`() throws {
    // Below the limit every member is named.
    for (count, problems) in [(100, 100), (20_001, 1)] {
      let json = "{" + (0..<count).map { "\"m\($0)\": 1" }.joined(separator: ",") + "}"
      let error = #expect(throws: MetadataEdit.ValidationError.self) {
        try MetadataEdit(json: Array(json.utf8))
      }
      #expect(try #require(error).problems.count == problems)
    }
  }
}
