import Foundation
import Testing
import TileStorage

@testable import ZigguratMetadata

/// Sidecars as bytes: encodings, and those that cannot be read.
@Suite struct SidecarBytesTests {
  private static let xmp =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
    + "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:source>Füße</dc:source>"
    + "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Füße</rdf:li></rdf:Alt></dc:title>"
    + "</rdf:Description></rdf:RDF></x:xmpmeta>"

  @Test(
    "XMP is read in every encoding",
    arguments: [
      String.Encoding.utf8, .utf16BigEndian, .utf16LittleEndian, .utf16, .utf32BigEndian, .utf32LittleEndian,
    ], ["", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n"])
  func encodings(encoding: String.Encoding, declaration: String) throws {
    if encoding == .utf8, !declaration.isEmpty { return }
    let bytes = Array(try #require((declaration + Self.xmp).data(using: encoding)))
    #expect(try Sidecar(bytes)?.applied(to: ImageMetadata()).title == "Füße")
  }

  @Test func `an unreadable sidecar reports the reason`() throws {
    let latin1 = Array(try #require(Self.xmp.data(using: .isoLatin1)))
    let doubled = Self.xmp.replacing("<dc:source>", with: "<dc:source>a</dc:source><dc:source>")
    for (bytes, reason) in [
      ([], "is empty"), (Array("title: Füße".utf8), "is not XMP"), (latin1, "is neither UTF-8 nor UTF-16"),
      (Array("<a><b></a>".utf8), "is not well-formed XML in line 1"),
      (Array("<a/>".utf8), "is XML, but not XMP"),
      (Array(doubled.utf8), "has the property 'dc:source' twice"),
    ] as [([UInt8], String)] {
      #expect(try Sidecar(bytes) == nil, "\(reason)")
      #expect(Sidecar.problem(bytes) == reason)
    }
  }
}
