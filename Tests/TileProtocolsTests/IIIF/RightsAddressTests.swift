import Testing
import TileStorage

@testable import ZigguratTileProtocols

@Suite struct RightsAddressTests {
  @Test(
    arguments: [
      (
        "https://creativecommons.org/licenses/by/4.0/deed.de",
        "http://creativecommons.org/licenses/by/4.0/"
      ),
      (
        "http://creativecommons.org/licenses/by-nc/3.0/de",
        "http://creativecommons.org/licenses/by-nc/3.0/de/"
      ),
      (
        "https://www.creativecommons.org/publicdomain/zero/1.0/legalcode.en",
        "http://creativecommons.org/publicdomain/zero/1.0/"
      ),
      (
        "https://rightsstatements.org/page/InC/1.0/?language=en",
        "http://rightsstatements.org/vocab/InC/1.0/"
      ),
      ("http://rightsstatements.org/vocab/NoC-US/1.0/", "http://rightsstatements.org/vocab/NoC-US/1.0/"),
      ("http://creativecommons.org/", nil), ("http://creativecommons.org/licenses/", nil),
      ("https://creativecommons.org.example.org/licenses/by/4.0/", nil),
      ("javascript:http://creativecommons.org/licenses/by/4.0/", nil),
      ("http://creativecommons.org/licenses/by/4.0/ © Ada", nil), ("© Ada", nil), ("", nil),
    ] as [(String, String?)]) func `known licenses have one spelling`(_ text: String, _ address: String?)
  {
    #expect(RightsAddress(text)?.text == address)
  }

  @Test func `the license precedes the web statement and the rights`() {
    var metadata = ImageMetadata(rights: "http://rightsstatements.org/vocab/InC/1.0/")
    #expect(RightsAddress(metadata)?.text == "http://rightsstatements.org/vocab/InC/1.0/")
    metadata.webStatement = "https://example.org/rights"
    metadata.license = "https://creativecommons.org/licenses/by/4.0/"
    #expect(RightsAddress(metadata)?.text == "http://creativecommons.org/licenses/by/4.0/")
  }
}
