import Testing
import TileGeometry

@testable import PyramidBuilding

@Suite struct OMEScaleTests {
  private func ome(_ attributes: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0" Name="x">
    <Pixels ID="Pixels:0" DimensionOrder="XYCZT" SizeX="10"\(attributes) Type="uint16"><Channel/></Pixels></Image></OME>
    """
  }

  @Test(arguments: [
    (#" PhysicalSizeX="0.325" PhysicalSizeY="0.65""#, 0.325, 0.65),
    (#" PhysicalSizeX='0.325'"#, 0.325, 0.325),
    (
      #" PhysicalSizeX="325" PhysicalSizeXUnit="nm" PhysicalSizeY="0.325" PhysicalSizeYUnit="µm""#, 0.325,
      0.325
    ),
    (#" PhysicalSizeXUnit="mm" PhysicalSizeX="0.002""#, 2, 2),
  ])
  func `the size of a pixel is in microns`(attributes: String, x: Double, y: Double) throws {
    let microns = try #require(OMEScale.microns(ome(attributes)))
    #expect(abs(microns.x - x) < 1e-9)
    #expect(abs(microns.y - y) < 1e-9)
  }

  /// Every unit of the schema (OME 2016-06, `UnitsLength`) that is a length, in metres (NIST SP 811, IAU 2012 B2 and
  /// 2015 B2; points are PostScript's).
  @Test(
    arguments: [
      ("Ym", 1e24), ("Zm", 1e21), ("Em", 1e18), ("Pm", 1e15), ("Tm", 1e12), ("Gm", 1e9), ("Mm", 1e6),
      ("km", 1e3),
      ("hm", 1e2), ("dam", 10), ("m", 1), ("dm", 0.1), ("cm", 0.01), ("mm", 1e-3), ("µm", 1e-6), ("nm", 1e-9),
      ("pm", 1e-12), ("fm", 1e-15), ("am", 1e-18), ("zm", 1e-21), ("ym", 1e-24), ("Å", 1e-10),
      ("thou", 2.54e-5),
      ("li", 0.0254 / 12), ("in", 0.0254), ("ft", 0.3048), ("yd", 0.9144), ("mi", 1609.344),
      ("ua", 149_597_870_700),
      ("ly", 9_460_730_472_580_800), ("pc", 3.0856775814913673e16), ("pt", 0.0254 / 72),
    ] as [(String, Double)])
  func `units of length are converted`(unit: String, metres: Double) throws {
    let microns = try #require(OMEScale.microns(ome(#" PhysicalSizeX="2" PhysicalSizeXUnit="\#(unit)""#)))
    #expect(abs(microns.x / (metres * 2e6) - 1) < 1e-12)
  }

  @Test func `each image has its own scale`() {
    let text = ome(#" PhysicalSizeX="2""#).replacing("</OME>", with: "")
    let both = text + #"<Image ID="Image:1"><Pixels PhysicalSizeX="3"/></Image></OME>"#
    #expect(OMEScale.microns(both)?.x == 2)
    #expect(OMEScale.microns(both, image: 1)?.x == 3)
    #expect(OMEScale.microns(both, image: 2) == nil)
  }

  @Test(
    arguments: [
      ("micron", 1), ("um", 1), ("µm", 1), ("\\u00B5m", 1), ("mm", 1000), ("cm", 10_000), ("inch", 25_400),
      ("nm", 0.001), ("pixel", nil), ("furlong", nil),
    ] as [(String, Double?)])
  func `units of ImageJ are converted`(name: String, microns: Double?) throws {
    let unit = try #require(ImageJScale.unit("ImageJ=1.53t\nimages=1\nunit=\(name)\nloop=false\n"))
    #expect(unit.microns == microns)
  }

  @Test func `a unit outside of ImageJ's text is ignored`() {
    #expect(ImageJScale.unit("unit=um") == nil)
    #expect(ImageJScale.unit("ImageJ=1.53t\nimages=1\n") == nil)
  }

  @Test(arguments: [
    "", #" PhysicalSizeX="0""#, #" PhysicalSizeX="-1""#, #" PhysicalSizeX="nan""#, #" PhysicalSizeX="inf""#,
    #" PhysicalSizeX="1" PhysicalSizeXUnit="pixel""#, #" PhysicalSizeX=1"#, #" PhysicalSizeX="1"#,
    #" XPhysicalSizeX="1""#,
  ])
  func `unusable sizes are ignored`(attributes: String) {
    #expect(OMEScale.microns(ome(attributes)) == nil)
  }

  @Test func `other and broken descriptions have no scale`() {
    let whole = ome(#" PhysicalSizeX="2""#)
    #expect(OMEScale.microns("A ship in a bottle <Pixels PhysicalSizeX=\"2\">") == nil)
    // Cut anywhere: nil, or what stands in the tag that is whole.
    for end in whole.indices {
      let found = OMEScale.microns(String(whole[..<end]))
      #expect(found == nil || found == Point(x: 2, y: 2))
    }
  }
}
