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
  func `the size of a pixel is told in microns`(attributes: String, x: Double, y: Double) throws {
    let microns = try #require(OMEScale.microns(ome(attributes)))
    #expect(abs(microns.x - x) < 1e-9)
    #expect(abs(microns.y - y) < 1e-9)
  }

  @Test(arguments: [
    "", #" PhysicalSizeX="0""#, #" PhysicalSizeX="-1""#, #" PhysicalSizeX="nan""#, #" PhysicalSizeX="inf""#,
    #" PhysicalSizeX="1" PhysicalSizeXUnit="pixel""#, #" PhysicalSizeX=1"#, #" PhysicalSizeX="1"#,
    #" XPhysicalSizeX="1""#,
  ])
  func `what says nothing usable says nothing`(attributes: String) {
    #expect(OMEScale.microns(ome(attributes)) == nil)
  }

  @Test func `other descriptions, and broken ones, say nothing`() {
    let whole = ome(#" PhysicalSizeX="2""#)
    #expect(OMEScale.microns("A ship in a bottle <Pixels PhysicalSizeX=\"2\">") == nil)
    // Cut anywhere: nil, or what stands in the tag that is whole.
    for end in whole.indices {
      let found = OMEScale.microns(String(whole[..<end]))
      #expect(found == nil || found == Point(x: 2, y: 2))
    }
  }
}
