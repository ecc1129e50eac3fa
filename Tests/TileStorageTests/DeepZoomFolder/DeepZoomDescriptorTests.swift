import Foundation
import Testing
import TileGeometry
import ZigguratTestSupport

@testable import TileStorage

@Suite struct DeepZoomDescriptorTests {
  private static let namespace = "http://schemas.microsoft.com/deepzoom/2008"

  private func xml(
    format: String = "jpg", overlap: String = "0", tileSize: String = "512", width: String = "1000",
    height: String = "700"
  ) -> String {
    """
    <?xml version="1.0"?><Image xmlns="\(Self.namespace)" Format="\(format)" Overlap="\(overlap)" \
    TileSize="\(tileSize)"><Size Width="\(width)" Height="\(height)"/></Image>
    """
  }

  private func read(_ xml: String) throws -> DeepZoomDescriptor {
    try DeepZoomDescriptor(xml: Data(xml.utf8))
  }

  @Test(arguments: [(1, 1, 1), (1000, 700, 512), (1 << 31, 3, 254), (1 << 40, 1 << 10, 1 << 16)])
  func `a written descriptor is read back`(width: Int, height: Int, tileSize: Int) throws {
    for format in TileFormat.allCases {
      let written = DeepZoomDescriptor(
        pyramid: SmallArchive.pyramid(width, height, tileSize: tileSize), format: format)
      #expect(try read(written.xml) == written)
    }
  }

  @Test func `overlap and the spelling of the extension are kept`() throws {
    let descriptor = try read(xml(format: "JPEG", overlap: "1", tileSize: "254"))
    #expect(descriptor.format == .jpeg)
    #expect(descriptor.fileExtension == "JPEG")
    #expect(descriptor.pyramid.overlap == 1)
    #expect(descriptor.pyramid.tileSize == 254)
    #expect(try read(descriptor.xml) == descriptor)
  }

  /// As libvips, Microsoft's composer, OpenSeadragon's examples and hand editing write it.
  @Test(arguments: [
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Image xmlns=\"N\"\n  Format=\"png\"\n  Overlap=\"0\"\n"
      + "  TileSize=\"256\"\n  >\n  <Size\n    Height=\"7\"\n    Width=\"9\"\n  />\n</Image>\n",
    "\u{feff}<?xml version='1.0' encoding='utf-8'?><Image TileSize='256' Overlap='0' Format='png' "
      + "ServerFormat='Default' xmlns='N'><Size Width='9' Height='7'></Size></Image>",
    "<!-- a comment --><Image Format=\"png\" Overlap=\"0\" TileSize=\"256\"><Size Width=\"9\" Height=\"7\"/>"
      + "<!-- another --></Image>",
    "<Image Format=\"&#112;ng\" Overlap=\"0\" TileSize=\"256\"><Size Width=\"9\" Height=\"7\"/></Image>",
    "<Image Format=\"png\" Overlap=\"0\" TileSize=\"256\"><Size Width=\"9\" Height=\"7\"/>"
      + "<DisplayRects/></Image>",
  ])
  func `descriptors of other writers are read`(text: String) throws {
    let descriptor = try read(text.replacingOccurrences(of: "N", with: Self.namespace))
    #expect(descriptor.pyramid == SmallArchive.pyramid(9, 7, tileSize: 256))
    #expect(descriptor.format == .png)
  }

  @Test(arguments: [
    "", " ", "x", "<", "<Image", "<Image/", "\0", "<Image>", "<Image></Size>", "{\"Image\": {}}",
    "<Image Format=\"jpg\" Format=\"png\"/>", "<Image/><Image/>", "<Image a=\"&undefined;\"/>",
  ])
  func `malformed XML is rejected with the line`(text: String) {
    let error = storageError { _ = try read(text) }
    #expect(error?.reason.hasPrefix("not well-formed XML in line ") == true, "\(error?.reason ?? "accepted")")
  }

  @Test(arguments: [
    ("<Image Format=\"jpg\" Overlap=\"0\" TileSize=\"5\"/>", "no Size.Width"),
    ("<Collection/>", "no Size.Width"),
    ("<Image><Size Width=\"5\" Height=\"5\"/></Image>", "no Image.TileSize"),
    ("<Image TileSize=\"5\"><Size Width=\"5\" Height=\"5\"/></Image>", "no Image.Overlap"),
    ("<Image TileSize=\"5\" Overlap=\"0\"><Size Width=\"5\" Height=\"5\"/></Image>", "no Image.Format"),
    ("<Image TileSize=\"5\" Overlap=\"0\"><Size Width=\"5\"/></Image>", "no Size.Height"),
  ])
  func `a missing element is named`(text: String, reason: String) {
    #expect(storageError { _ = try read(text) }?.reason == reason)
  }

  @Test(arguments: [
    "0", "-1", "", " ", "5 ", " 5", "1.5", "1e3", "0x10", "x", "NaN", "99999999999999999999", "1099511627777",
    "٥", "5,0", "--5",
  ])
  func `an invalid dimension is reported with its value`(text: String) {
    let wanted = "'\(text)', not within 1...1099511627776"
    #expect(storageError { _ = try read(xml(width: text)) }?.reason == "Size.Width is " + wanted)
    #expect(storageError { _ = try read(xml(height: text)) }?.reason == "Size.Height is " + wanted)
  }

  @Test(arguments: ["0", "-1", "65537", "x", ""])
  func `a tile size out of range is refused`(text: String) {
    let error = storageError { _ = try read(xml(tileSize: text)) }
    #expect(error?.reason == "Image.TileSize is '\(text)', not within 1...65536")
  }

  @Test(arguments: ["-1", "512", "x", "1.0"])
  func `an overlap that is not below the tile size is refused`(text: String) {
    let error = storageError { _ = try read(xml(overlap: text)) }
    #expect(error?.reason == "Image.Overlap is '\(text)', not within 0...511")
  }

  @Test(arguments: ["", "bmp", "jpg ", ".jpg", "jpg/../../x"])
  func `an unknown format is refused`(text: String) {
    let error = storageError { _ = try read(xml(format: text)) }
    #expect(error?.reason == "Image.Format is '\(text)', not one of jpg, jpeg, png, webp, avif, jxl")
  }

  @Test(arguments: ["1", "512", "65536"])
  func `more pixels than are counted are refused`(tileSize: String) throws {
    let vast = "1099511627776"
    for (width, height) in [(vast, vast), (vast, "1048577"), ("1048577", vast)] {
      let error = storageError { _ = try read(xml(tileSize: tileSize, width: width, height: height)) }
      #expect(error?.reason == "more pixels than can be counted")
    }
    #expect(
      try read(xml(tileSize: tileSize, width: vast, height: "1048576")).pyramid.imageSize.height == 1 << 20)
  }

  @Test func `a reason stays one short line`() {
    for text in [String(repeating: "9", count: 60_000), "a&#10;b", "a&#13;&#10;b"] {
      for error in [
        storageError { _ = try read(xml(width: text)) }, storageError { _ = try read(xml(format: text)) },
      ] {
        let reason = error?.reason ?? ""
        #expect(!reason.isEmpty && reason.count < 200 && !reason.contains(where: \.isNewline), "\(reason)")
      }
    }
  }

  @Test func `a descriptor of megabytes is rejected without parsing`() {
    let error = storageError { _ = try read(xml() + String(repeating: " ", count: 65_536)) }
    #expect(error?.reason.hasSuffix("bytes are too many") == true)
  }

  /// Foundation's parser on Linux ended the process at some of these.
  @Test(arguments: ["<?x?>", "<?x y?>", "<?xml-stylesheet href='a'?>", "<!-- -->"])
  func `processing instructions and comments are skipped`(text: String) throws {
    let image = xml().replacingOccurrences(of: "<?xml version=\"1.0\"?>", with: "")
    #expect(try read(text + image) == read(xml()))
    #expect(try read(image + text) == read(xml()))
    #expect(try read(xml().replacingOccurrences(of: "<Size", with: text + "<Size")) == read(xml()))
  }

  /// An untrusted archive must not make the reader open files, fill the memory or stop.
  @Test(arguments: [
    "<!DOCTYPE Image>", "<!DOCTYPE Image SYSTEM \"file:///etc/hostname\">",
    "<!DOCTYPE Image [<!ENTITY e SYSTEM \"file:///etc/hostname\">]>",
    "<!DOCTYPE Image [<!ENTITY % e SYSTEM \"file:///etc/hostname\"> %e;]>",
    "<!DOCTYPE Image [<!ENTITY e \"&#60;?x?>\">]>", "<!DOCTYPE Image [<!ATTLIST Image a CDATA #IMPLIED>]>",
    "<!DOCTYPE Image [<!ENTITY e SYSTEM \"x\" NDATA n>]>", "<!DOCTYPE Image [<!NOTATION n SYSTEM \"x\">]>",
    "<!DOCTYPE Image [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;\">]>",
  ])
  func `a document type is refused`(text: String) {
    let image =
      "<Image Format=\"jpg\" Overlap=\"0\" TileSize=\"5\"><Size Width=\"9\" Height=\"9\"/>&e;</Image>"
    let error = storageError { _ = try read(text + "\n" + image) }
    #expect(error?.reason == "a document type, which has no place there, in line 1")
  }

  @Test func `only the root and its children count`() throws {
    let inner = "<DisplayRects><Size Width=\"3\" Height=\"3\"/><Image TileSize=\"9\"/></DisplayRects>"
    #expect(try read(xml().replacingOccurrences(of: "</Image>", with: inner + "</Image>")) == read(xml()))
    let image = xml().replacingOccurrences(of: "<?xml version=\"1.0\"?>", with: "")
    #expect(
      storageError { _ = try read("<Collection><Items>\(image)</Items></Collection>") }?.reason
        == "no Size.Width")
  }

  @Test func `elements may be nested deep`() {
    let depth = 9000
    let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(storageError { _ = try read(text) }?.reason == "no Size.Width")
  }

  @Test func `UTF-16 is read, and an unknown encoding is rejected`() throws {
    let utf16 = xml().replacingOccurrences(of: "<?xml version=\"1.0\"?>", with: "")
    #expect(try DeepZoomDescriptor(xml: try #require(utf16.data(using: .utf16))) == read(xml()))
    for name in ["UTF-7", "EBCDIC-CP-US", "x"] {
      let text = xml().replacingOccurrences(
        of: "version=\"1.0\"", with: "version=\"1.0\" encoding=\"\(name)\"")
      #expect(storageError { _ = try read(text) }?.reason == "not well-formed XML in line 1")
    }
    #expect(storageError { _ = try DeepZoomDescriptor(xml: Data([0x3c, 0xff, 0xfe, 0x3e])) } != nil)
  }
}
