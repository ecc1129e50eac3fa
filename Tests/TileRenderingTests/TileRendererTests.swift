import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport
import ZigguratTileProtocols

@testable import PyramidBuilding
@testable import ZigguratTileRendering

/// Pictures against libvips' own crops and scalings of the source.
struct TileRendererTests {
  /// A smooth picture with a different colour at every place, so that a shift or a swap shows.
  private static func source(_ folder: TemporaryFolder, _ width: Int, _ height: Int) throws -> String {
    let path = folder("source.png")
    let xy = folder("xy.v")
    try Tool.check(["vips", "xyz", xy, "\(width)", "\(height)"])
    let (x, y, sum) = (folder("x.v"), folder("y.v"), folder("sum.v"))
    try Tool.check(["vips", "extract_band", xy, x, "0"])
    try Tool.check(["vips", "extract_band", xy, y, "1"])
    try Tool.check(["vips", "add", x, y, sum])
    var bands: [String] = []
    for (number, (file, side)) in [(x, width), (y, height), (sum, width + height)].enumerated() {
      let scaled = folder("band\(number).v")
      try Tool.check(["vips", "linear", file, scaled, "\(250.0 / Double(side))", "2", "--uchar"])
      bands.append(scaled)
    }
    try Tool.check(["vips", "bandjoin", bands.joined(separator: " "), folder("joined.v")])
    try Tool.check(["vips", "copy", folder("joined.v"), path, "--interpretation", "srgb"])
    return path
  }

  static func archive(
    _ folder: TemporaryFolder, _ width: Int = 701, _ height: Int = 463, format: TileFormat = .png,
    tileSize: Int = 128
  ) throws -> TileArchive {
    var options = BuildOptions()
    (options.format, options.tileSize, options.quality) = (format, tileSize, 88)
    _ = try PyramidBuilder(options: options, threads: 1)
      .build(try source(folder, width, height), to: folder("a.szi"), name: "a")
    return try TileArchive(path: folder("a.szi"))
  }

  private static func pixels(_ bytes: [UInt8]) throws -> PixelBuffer {
    let folder = try TemporaryFolder()
    return try PixelBuffer(Image(path: folder.write("answer", bytes), access: .sequential).asBytesOfColor())
  }

  /// The largest difference of two pictures' bytes.
  private static func difference(_ one: PixelBuffer, _ other: PixelBuffer) -> Int {
    guard one.size == other.size, one.layout == other.layout else { return 1000 }
    return zip(one.bytes, other.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 0
  }

  private static func crop(_ folder: TemporaryFolder, _ steps: [[String]]) throws -> PixelBuffer {
    var file = folder("source.png")
    for (number, step) in steps.enumerated() {
      let next = folder("step\(number).png")
      try Tool.check(["vips", step[0], file, next] + step.dropFirst())
      file = next
    }
    return try pixels(try bytes(ofFile: file))
  }

  @Test("a region at full size has the source's pixels, at any position of the grid")
  func crop() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder)
    let renderer = TileRenderer()
    for (x, y, w, h) in [
      (0, 0, 701, 463), (1, 1, 1, 1), (127, 127, 2, 2), (100, 33, 301, 257), (573, 335, 128, 128),
    ] {
      let picture = Picture(
        region: PixelRect(x: x, y: y, width: w, height: h), size: PixelSize(width: w, height: h)!,
        format: .png)
      let ours = try Self.pixels(try renderer.render(picture, of: archive))
      let theirs = try Self.crop(folder, [["crop", "\(x)", "\(y)", "\(w)", "\(h)"]])
      #expect(Self.difference(ours, theirs) == 0, "\(x),\(y),\(w),\(h)")
    }
  }

  @Test("chroma of half resolution keeps its position at odd and even offsets")
  func planarCrop() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder, format: .jpeg)
    let renderer = TileRenderer()
    for (x, y, w, h) in [
      (0, 0, 701, 463), (1, 0, 300, 200), (0, 1, 300, 201), (127, 127, 131, 133), (301, 201, 400, 262),
    ] {
      for format in [PictureFormat.png, .jpg] {
        let picture = Picture(
          region: PixelRect(x: x, y: y, width: w, height: h), size: PixelSize(width: w, height: h)!,
          format: format)
        let ours = try Self.pixels(try renderer.render(picture, of: archive))
        let theirs = try Self.crop(folder, [["crop", "\(x)", "\(y)", "\(w)", "\(h)"]])
        #expect(Self.difference(ours, theirs) <= 8, "\(x),\(y),\(w),\(h) \(format.fileExtension)")
      }
    }
  }

  @Test("scaled pictures have exactly the requested size, and libvips' pixels")
  func scaled() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder)
    let renderer = TileRenderer()
    for (w, h) in [
      (350, 231), (351, 232), (176, 116), (88, 58), (300, 200), (97, 53), (1, 1), (1402, 926), (7, 463),
      (1000, 20),
    ] {
      let picture = Picture(
        region: PixelRect(x: 0, y: 0, width: 701, height: 463), size: PixelSize(width: w, height: h)!,
        format: .png)
      let ours = try Self.pixels(try renderer.render(picture, of: archive))
      let theirs = try Self.crop(
        folder, [["thumbnail", "\(w)", "--height", "\(h)", "--size", "force"]])
      #expect(ours.size == PixelSize(width: w, height: h)!)
      #expect(Self.difference(ours, theirs) <= (min(w, h) < 10 ? 40 : 5), "\(w)×\(h)")
    }
  }

  @Test(
    "regions are mirrored before rotation, and gray and bitonal have one band",
    arguments: PictureFormat.allCases)
  func turned(format: PictureFormat) throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder)
    let renderer = TileRenderer()
    var picture = Picture(
      region: PixelRect(x: 0, y: 0, width: 701, height: 463), size: PixelSize(width: 175, height: 116)!,
      format: format)
    (picture.isMirrored, picture.rotation) = (true, 90)
    let ours = try Self.pixels(try renderer.render(picture, of: archive))
    let theirs = try Self.crop(
      folder,
      [["thumbnail", "175", "--height", "116", "--size", "force"], ["flip", "horizontal"], ["rot", "d90"]])
    let color = ours.layout == .interleaved(.rgba) ? try ours.withoutAlpha() : ours
    // GIF has 256 colours; JPEG XL looks at what is seen, not at the worst pixel.
    #expect(Self.difference(color, theirs) <= (format == .gif ? 90 : format == .jxl ? 48 : 16))
    for quality in [PictureQuality.gray, .bitonal] {
      picture.quality = quality
      let ours = try Self.pixels(try renderer.render(picture, of: archive))
      #expect(ours.size == PixelSize(width: 116, height: 175)!)
      if [.jpg, .png, .tif].contains(format) { #expect(ours.layout == .interleaved(.gray)) }
      if quality == .bitonal { #expect(Set(ours.bytes) == [0, 255]) }
    }
  }

  @Test("a picture at any angle has clear corners, or background if the format has no alpha")
  func anyAngle() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder)
    var options = TileRenderer.Options()
    options.background = [10, 200, 30]
    let renderer = TileRenderer(options: options)
    var picture = Picture(
      region: PixelRect(x: 0, y: 0, width: 400, height: 400), size: PixelSize(width: 100, height: 100)!,
      format: .png)
    picture.rotation = 45
    let clear = try Self.pixels(try renderer.render(picture, of: archive))
    #expect(abs(clear.width - 141) <= 1 && abs(clear.height - 141) <= 1)
    #expect(clear.layout == .interleaved(.rgba))
    #expect(clear.bytes[3] == 0)
    #expect(clear.bytes[(clear.height / 2 * clear.width + clear.width / 2) * 4 + 3] == 255)
    picture.format = .jpg
    let filled = try Self.pixels(try renderer.render(picture, of: archive))
    #expect(zip(filled.bytes.prefix(3), [10, 200, 30]).allSatisfy { abs(Int($0) - $1) < 4 })
  }

  @Test("a viewport's picture is its region, also rotated by multiples of 90°")
  func viewport() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder)
    let renderer = TileRenderer()
    func shown(_ viewport: Viewport, _ ratio: Double = 1) throws -> PixelBuffer {
      try Self.pixels(
        try renderer.render(viewport, devicePixelRatio: ratio, format: .png, of: archive))
    }
    let plain = try shown(Viewport(width: 200, height: 150, scale: 1, x: 33, y: 41))
    #expect(Self.difference(plain, try Self.crop(folder, [["crop", "33", "41", "200", "150"]])) == 0)
    let double = try shown(Viewport(width: 200, height: 150, scale: 0.5, x: 33, y: 41), 2)
    #expect(Self.difference(double, try Self.crop(folder, [["crop", "66", "82", "400", "300"]])) == 0)
    let half = try shown(Viewport(width: 100, height: 75, scale: 0.5, x: 16, y: 20))
    let level = try Self.crop(folder, [["shrink", "2", "2"], ["crop", "16", "20", "100", "75"]])
    #expect(Self.difference(half, level) <= 2)
    for quarter in 1...3 {
      for flip in [false, true] {
        let rotation = Rotation(degrees: Double(quarter) * 90, isFlipped: flip)
        let ours = try shown(Viewport(width: 160, height: 160, scale: 1, x: 200, y: 150, rotation: rotation))
        let steps =
          [["crop", "200", "150", "160", "160"]] + (flip ? [["flip", "horizontal"]] : [])
          + [["rot", "d\(quarter * 90)"]]
        #expect(Self.difference(ours, try Self.crop(folder, steps)) == 0, "\(quarter) \(flip)")
      }
    }
    let outside = try shown(Viewport(width: 50, height: 50, scale: 1, x: -100, y: -100))
    #expect(outside.bytes.allSatisfy { $0 == 0 })
    let corner = try shown(Viewport(width: 50, height: 50, scale: 1, x: -25, y: -25))
    #expect(corner.bytes[3] == 0 && corner.bytes[(40 * 50 + 40) * 4 + 3] == 255)
  }

  @Test("a damaged tile is an error that names it, never a picture")
  func damaged() throws {
    let folder = try TemporaryFolder()
    let archive = try Self.archive(folder, format: .jpeg)
    var bytes = try bytes(ofFile: folder("a.szi"))
    let number = archive.tileIndex(level: archive.pyramid.topLevel, column: 1, row: 1)!
    let tile = archive.tile(number)!
    let start = tile.baseAddress! - archive.file!.bytes.baseAddress!
    for place in 0..<12 { bytes[start + place] = 0 }
    let damaged = try TileArchive(path: try folder.write("b.szi", bytes))
    let picture = Picture(
      region: PixelRect(x: 0, y: 0, width: 701, height: 463), size: PixelSize(width: 701, height: 463)!)
    let error = #expect(throws: RenderError.self) { try TileRenderer().render(picture, of: damaged) }
    #expect(error?.description.hasPrefix("tile 10/1_1: ") == true, "\(String(describing: error))")
  }
}

extension PixelBuffer {
  fileprivate func withoutAlpha() throws -> PixelBuffer {
    try withImage(until: Cancellation()) { (image) throws(ImagingError) in
      try PixelBuffer(image.bands(from: 0, count: 3))
    }
  }
}
