import Testing

@testable import PyramidBuilding

@Suite struct OMEPixelsTests {
  private func ome(_ attributes: String, _ inside: String = "") -> String {
    "<ome:OME><ome:Image><ome:Pixels \(attributes)>\(inside)</ome:Pixels></ome:Image></ome:OME>"
  }

  private static let sizes = #"DimensionOrder="XYZCT" SizeC="3" SizeZ='4' SizeT="2""#

  @Test func `planes are in the order of the dimensions`() throws {
    let pixels = try #require(OMEPixels(ome(Self.sizes)))
    #expect(pixels.channels.count == 3 && pixels.planeCount == 24)
    #expect(pixels.channels.map(\.samples) == [1, 1, 1])
    #expect(pixels.page(channel: 0, z: 3, t: 0) == 3)
    #expect(pixels.page(channel: 2, z: 1, t: 0) == 9)
    #expect(pixels.page(channel: 2, z: 3, t: 1) == 23)
  }

  @Test func `planes are at the positions that the file declares`() throws {
    let data =
      #"<TiffData IFD="5" FirstC="1" FirstZ="2"/><TiffData FirstT="1" IFD="9" PlaneCount="1000000"/>"#
    let pixels = try #require(OMEPixels(ome(Self.sizes, data)))
    #expect(pixels.page(channel: 1, z: 2, t: 0) == 5)
    #expect(pixels.page(channel: 0, z: 0, t: 0) == nil)
    #expect(pixels.page(channel: 0, z: 2, t: 1) == 11)
  }

  @Test func `channels have names and colours`() throws {
    let channels = """
      <!-- <Channel Name="none"/> --><Channel Name="a &lt;&#xb5;&#109;&gt; b" Color="-16776961"/>
      <Channel Name='>' Color="16711935"><LightPath/></Channel>
      """
    let pixels = try #require(OMEPixels(ome(Self.sizes, channels)))
    #expect(pixels.channels.map(\.name) == ["a <µm> b", ">", nil])
    #expect(pixels.channels.map(\.colour) == [[255, 0, 0], [0, 255, 0], nil])
    #expect(OMEPixels(ome(Self.sizes, #"<Channel Color="0"/>"#))?.channels[0].colour == nil)
  }

  @Test(arguments: [
    "", #"DimensionOrder="XYZCT" SizeC="3" SizeZ="4""#,
    #"DimensionOrder="XYZZT" SizeC="1" SizeZ="1" SizeT="1""#,
    #"DimensionOrder="XYZCT" SizeC="0" SizeZ="4" SizeT="1""#,
    #"DimensionOrder="XYZCT" SizeC="-3" SizeZ="4" SizeT="1""#,
    #"DimensionOrder="XYZCT" SizeC="65537" SizeZ="4" SizeT="1""#,
    #"DimensionOrder="XYZCT" SizeC="3" SizeZ="1048576" SizeT="1048576""#,
    #"DimensionOrder="XYZCT" SizeC="99999999999999999999" SizeZ="4" SizeT="1""#,
  ])
  func `invalid dimensions are ignored`(attributes: String) {
    #expect(OMEPixels(ome(attributes)) == nil)
  }

  @Test func `planes of other files have no page`() throws {
    let data = ["a", "b", "c"].enumerated().map { channel, file in
      #"<TiffData FirstC="\#(channel)" IFD="0"><UUID FileName="\#(file)"/></TiffData>"#
    }
    let pixels = try #require(OMEPixels(ome(Self.sizes, data.joined()), name: "b"))
    #expect((0..<3).map { pixels.page(channel: $0, z: 0, t: 0) } == [nil, 0, nil])
    #expect((0..<3).map { pixels.otherFile(channel: $0, z: 0, t: 0) } == ["a", nil, "c"])
    // By its identifier, whatever it is called now.
    let own = ome(Self.sizes, #"<TiffData IFD="4"><UUID FileName="a"> urn:1 </UUID></TiffData>"#)
      .replacing("<ome:OME>", with: #"<ome:OME UUID="urn:1">"#)
    #expect(OMEPixels(own, name: "b")?.page(channel: 0, z: 0, t: 0) == 4)
    #expect(
      OMEPixels(own.replacing("> urn:1 <", with: ">urn:2<"), name: "b")?.page(channel: 0, z: 0, t: 0) == nil)
  }

  @Test func `pages with several bands have one channel each`() throws {
    func channels(_ inside: String, pages: Int = 1) -> [Int]? {
      OMEPixels(ome(Self.sizes, inside), samples: pages)?.channels.map(\.samples)
    }
    #expect(channels(#"<Channel SamplesPerPixel="3"/>"#) == [3])
    #expect(channels(#"<Channel SamplesPerPixel="2"/><Channel SamplesPerPixel="1"/>"#) == [2, 1])
    #expect(channels("<Channel/><Channel/><Channel/>", pages: 3) == [3])
    #expect(channels(#"<Channel SamplesPerPixel="2"/>"#) == nil)
  }

  @Test func `truncated OME-XML is invalid or has the complete values`() {
    let whole = ome(Self.sizes, #"<Channel Name="a &amp; b"/><!-- - --><TiffData IFD="0" PlaneCount="24"/>"#)
    for end in whole.indices {
      guard let pixels = OMEPixels(String(whole[..<end])) else { continue }
      #expect(pixels.planeCount == 24)
    }
  }
}
