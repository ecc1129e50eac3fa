import Testing
import TileGeometry

@testable import ZigguratTileProtocols

/// The parameters of image requests (IIIF Image API 3.0 and 2.1, section 4), over tables.
struct IIIFGrammarTests {
  private static let image = PixelSize(width: 6000, height: 4000)!

  private static func region(_ text: String, in image: PixelSize = image) -> PixelRect? {
    guard let region = IIIFRegion(text) else { return nil }
    return try? region.rectangle(in: image)
  }

  @Test(
    "regions are cut at the image's edges",
    arguments: [
      ("full", PixelRect(x: 0, y: 0, width: 6000, height: 4000)),
      ("square", PixelRect(x: 1000, y: 0, width: 4000, height: 4000)),
      ("0,0,1,1", PixelRect(x: 0, y: 0, width: 1, height: 1)),
      ("125,15,120,140", PixelRect(x: 125, y: 15, width: 120, height: 140)),
      ("5999,3999,100,100", PixelRect(x: 5999, y: 3999, width: 1, height: 1)),
      ("10,20,999999999999999,7", PixelRect(x: 10, y: 20, width: 5990, height: 7)),
      ("007,0,1,1", PixelRect(x: 7, y: 0, width: 1, height: 1)),
      ("pct:0,0,100,100", PixelRect(x: 0, y: 0, width: 6000, height: 4000)),
      ("pct:41.6,7.5,40,70", PixelRect(x: 2496, y: 300, width: 2400, height: 2800)),
      ("pct:41.6,7.5,66.6,100", PixelRect(x: 2496, y: 300, width: 3504, height: 3700)),
      ("pct:99.9,99.9,500,500", PixelRect(x: 5994, y: 3996, width: 6, height: 4)),
      ("pct:0,0,0.001,0.001", PixelRect(x: 0, y: 0, width: 1, height: 1)),
    ])
  func regions(text: String, expected: PixelRect) { #expect(Self.region(text) == expected) }

  @Test(
    "malformed, empty or outside regions are rejected",
    arguments: [
      "", "FULL", "full ", "squared", "1,2,3", "1,2,3,4,5", ",,,", "1,2,3,", "-1,0,5,5", "+1,0,5,5",
      "1.5,0,5,5",
      "a,b,c,d", "0,0,0,5", "0,0,5,0", "6000,0,1,1", "0,4000,1,1", "1e2,0,5,5", "0x1,0,5,5", "0, 0,5,5",
      "9999999999999999,0,1,1", "pct:", "pct:1,2,3", "pct:100,0,1,1", "pct:0,100,1,1", "pct:0,0,0,1",
      "pct:0,0,1,0.0", "pct:-1,0,5,5", "pct:.,0,5,5", "pct:5.,0,5,5", "pct:1e1,0,5,5", "pct:nan,0,5,5",
      "pct:inf,0,5,5", "pct:1.2.3,0,5,5", "PCT:0,0,5,5", "percent:0,0,1,1", "０,0,1,1", "full,0,0,1,1",
    ])
  func badRegions(text: String) { #expect(Self.region(text) == nil) }

  private static func size(
    _ text: String, _ version: IIIFVersion, of region: PixelRect, _ limits: PictureLimits = PictureLimits()
  ) -> PixelSize? {
    guard let size = IIIFSize(text, version) else { return nil }
    return try? size.pixels(of: region, limits)
  }

  private static let region = PixelRect(x: 10, y: 10, width: 300, height: 200)

  @Test(
    "sizes of both versions are read",
    arguments: [
      ("max", 300, 200), ("150,", 150, 100), (",150", 225, 150), ("pct:50", 150, 100), ("pct:33.3", 100, 67),
      ("225,100", 225, 100), ("!225,100", 150, 100), ("!100,225", 100, 67), ("!300,200", 300, 200),
      ("1,", 1, 1),
      (",1", 2, 1), ("300,1", 300, 1), ("300,200", 300, 200), ("pct:100", 300, 200), ("!1,1", 1, 1),
    ])
  func sizes(text: String, width: Int, height: Int) {
    for version in IIIFVersion.allCases {
      #expect(Self.size(text, version, of: Self.region) == PixelSize(width: width, height: height))
    }
  }

  @Test(
    "sizes above the region's are allowed in 2.1, and in 3.0 only with ^",
    arguments: [
      ("600,", 600, 400), (",300", 450, 300), ("pct:200", 600, 400), ("301,100", 301, 100),
      ("100,201", 100, 201),
    ])
  func growing(text: String, width: Int, height: Int) {
    let expected = PixelSize(width: width, height: height)
    #expect(Self.size(text, .two, of: Self.region) == expected)
    #expect(Self.size(text, .three, of: Self.region) == nil)
    #expect(Self.size("^" + text, .three, of: Self.region) == expected)
    #expect(Self.size("^" + text, .two, of: Self.region) == nil)
  }

  @Test("a box with more pixels than the region is rejected in 3.0 without ^")
  func confined() {
    #expect(Self.size("!600,600", .two, of: Self.region) == PixelSize(width: 600, height: 400))
    #expect(Self.size("^!600,600", .three, of: Self.region) == PixelSize(width: 600, height: 400))
    #expect(Self.size("!600,600", .three, of: Self.region) == nil)
    #expect(Self.size("!600,100", .three, of: Self.region) == PixelSize(width: 150, height: 100))
  }

  @Test(
    "malformed and zero sizes and those of the other version are rejected",
    arguments: [
      "", ",", "0,", ",0", "0,0", "10,0", "0,10", "!10,", "!,10", "!,", "!0,10", "!10,0", "pct:", "pct:0",
      "pct:0.0", "pct:0.01", "pct:-5", "pct:1e1", "pct:nan", "!pct:50", "-10,", "+10,", "10", "10,10,10",
      "1.5,",
      "MAX", "!max", "max,", "w,h", " 10,", "10 ,", "9999999999999999,", "^^max", "!^10,10", "^!10,", "^",
      "^full",
    ])
  func badSizes(text: String) {
    for version in IIIFVersion.allCases { #expect(Self.size(text, version, of: Self.region) == nil) }
  }

  @Test("full is valid in 2.1, and ^max in 3.0")
  func keywords() {
    #expect(Self.size("full", .two, of: Self.region) == PixelSize(width: 300, height: 200))
    #expect(Self.size("full", .three, of: Self.region) == nil)
    #expect(Self.size("^max", .three, of: Self.region) == PixelSize(width: 300, height: 200))
    #expect(Self.size("^max", .two, of: Self.region) == nil)
  }

  @Test("above the limits, max and !w,h shrink, and every other size is rejected")
  func limits() {
    let large = PixelRect(x: 0, y: 0, width: 100_000, height: 50_000)
    let limits = PictureLimits(area: 2_000_000)
    #expect(Self.size("max", .three, of: large, limits) == PixelSize(width: 2000, height: 1000))
    #expect(Self.size("max", .two, of: large, limits) == PixelSize(width: 2000, height: 1000))
    #expect(Self.size("full", .two, of: large, limits) == nil)
    #expect(Self.size("2000,1000", .three, of: large, limits) == PixelSize(width: 2000, height: 1000))
    #expect(Self.size("2001,1000", .three, of: large, limits) == nil)
    #expect(Self.size("pct:100", .three, of: large, limits) == nil)
    #expect(Self.size("!2500,2500", .three, of: large, limits) == PixelSize(width: 2000, height: 1000))
    #expect(Self.size("!2000,400", .three, of: large, limits) == PixelSize(width: 800, height: 400))
    #expect(
      Self.size("^!99999,99999", .three, of: Self.region, limits) == PixelSize(width: 1732, height: 1154))
    #expect(Self.size("^pct:99999999", .three, of: Self.region, limits) == nil)
    let long = PixelRect(x: 0, y: 0, width: 1_000_000_000, height: 10)
    #expect(Self.size("max", .three, of: long) == PixelSize(width: 32_768, height: 1))
    #expect(Self.size("40000,1", .three, of: long) == nil)
    #expect(Self.size(",10", .three, of: long) == nil)
  }

  @Test(
    "rotation, quality and format are read",
    arguments: [
      ("0/default.jpg", false, 0.0, PictureQuality.color, PictureFormat.jpg),
      ("360/color.png", false, 0, .color, .png), ("!0/gray.webp", true, 0, .gray, .webp),
      ("22.5/bitonal.tif", false, 22.5, .bitonal, .tif),
      ("!359.999/default.gif", true, 359.999, .color, .gif),
      ("090/default.avif", false, 90, .color, .avif), ("180.0/default.jpg", false, 180, .color, .jpg),
    ])
  func rest(
    text: String, isMirrored: Bool, rotation: Double, quality: PictureQuality, format: PictureFormat
  ) throws {
    let parts = text.split(separator: "/").map(String.init)
    for version in IIIFVersion.allCases {
      let request = try IIIFImageRequest(version, ["full", "max"] + parts)
      #expect(request.isMirrored == isMirrored && request.rotation == rotation)
      #expect(request.quality == quality && request.format == format)
    }
  }

  @Test(
    "other rotations, qualities and formats are rejected with 400",
    arguments: [
      "/default.jpg", "!/default.jpg", "-90/default.jpg", "361/default.jpg", "360.1/default.jpg",
      "!!0/default.jpg",
      "0!/default.jpg", "90deg/default.jpg", "1e1/default.jpg", "5./default.jpg", "./default.jpg",
      "nan/default.jpg",
      "+90/default.jpg",
      "0/default", "0/default.", "0/.jpg", "0/native.jpg", "0/grey.jpg", "0/Default.jpg", "0/default.JPG",
      "0/default.jpeg", "0/default.jp2", "0/default.pdf", "0/default.jpg.png", "0/default.jpg ", "0/",
      "0/default..jpg",
    ])
  func badRest(text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    for version in IIIFVersion.allCases {
      #expect(throws: IIIFImageRequest.Part.self) {
        try IIIFImageRequest(version, ["full", "max"] + parts)
      }
      // Another path altogether: the base URI of an image.
      if text.hasSuffix("/") { continue }
      let pyramid = Pyramid(imageSize: Self.image, tileSize: 512)!
      guard
        case .notFound(let refusal) =
          ReadRequest("/iiif/\(version.rawValue)/x/full/max/\(text)")?.place(in: pyramid)
      else {
        Issue.record("\(text) is answered")
        continue
      }
      #expect(refusal.status == 400)
    }
  }

  @Test(
    "requests have a canonical form",
    arguments: [
      ("full/max/0/default.jpg", "full/max/0/default.jpg", "full/full/0/default.jpg"),
      ("0,0,6000,4000/6000,4000/360/color.jpg", "full/max/0/default.jpg", "full/full/0/default.jpg"),
      (
        "pct:0,0,50,50/pct:10/!90.0/gray.png", "0,0,3000,2000/300,200/!90/gray.png",
        "0,0,3000,2000/300,/!90/gray.png"
      ),
      (
        "square/!100,200/22.50/bitonal.tif", "1000,0,4000,4000/100,100/22.5/bitonal.tif",
        "1000,0,4000,4000/100,/22.5/bitonal.tif"
      ),
      ("full/100,100/0/default.webp", "full/100,100/0/default.webp", "full/100,100/0/default.webp"),
      // Never with an exponent; what moves no pixel is no rotation.
      ("full/max/0.0000014/default.jpg", "full/max/0.000001/default.jpg", "full/full/0.000001/default.jpg"),
      ("full/max/0.0000001/default.jpg", "full/max/0/default.jpg", "full/full/0/default.jpg"),
      ("full/max/.50/default.jpg", "full/max/0.5/default.jpg", "full/full/0.5/default.jpg"),
      (
        "full/max/359.9999999999999999999999999/default.jpg", "full/max/0/default.jpg",
        "full/full/0/default.jpg"
      ),
      (
        "full/max/!33.333333333333333333/default.jpg", "full/max/!33.333333/default.jpg",
        "full/full/!33.333333/default.jpg"
      ),
      (
        "5990,3990,100,100/5,/0/default.jpg", "5990,3990,10,10/5,5/0/default.jpg",
        "5990,3990,10,10/5,/0/default.jpg"
      ),
    ])
  func canonical(text: String, three: String, two: String) throws {
    let limits = PictureLimits()
    for (version, expected) in [(IIIFVersion.three, three), (.two, two)] {
      let parts = text.split(separator: "/").map(String.init)
      let picture = try IIIFImageRequest(version, parts).picture(of: Self.image, limits)
      let canonical = picture.iiif(of: Self.image, version, limits)
      #expect(canonical == expected)
      // The canonical form of a canonical form is itself, and the same picture.
      let again = try IIIFImageRequest(version, canonical.split(separator: "/").map(String.init))
        .picture(of: Self.image, limits)
      #expect(again == picture)
    }
    let grown = try IIIFImageRequest(.three, ["full", "^7000,", "0", "default.jpg"])
      .picture(of: Self.image, limits)
    #expect(grown.iiif(of: Self.image, .three, limits) == "full/^7000,4667/0/default.jpg")
  }
}
