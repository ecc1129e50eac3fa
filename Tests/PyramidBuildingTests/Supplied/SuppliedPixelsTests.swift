import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratImaging
import ZigguratTestSupport

@testable import PyramidBuilding

/// "Encodes" to the shape of the tile and its pixels.
private struct PlainTiles: TileEncoder {
  let format: TileFormat

  func encode(_ pixels: RawSpan, width: Int, height: Int, bands: Int) -> [UInt8] {
    [UInt8(width), UInt8(height), UInt8(bands)] + pixels.withUnsafeBytes { Array($0) }
  }
}

private struct ValidationError: Error, CustomStringConvertible { let description: String }

private struct FailingEncoder: TileEncoder {
  var format: TileFormat { .png }
  var error: ValidationError?

  func encode(_ pixels: RawSpan, width: Int, height: Int, bands: Int) throws -> [UInt8] {
    if let error { throw error }
    return []
  }
}

@Suite struct SuppliedPixelsTests {
  private let folder: TemporaryFolder
  private var options = BuildOptions()

  init() throws {
    folder = try TemporaryFolder()
    (options.format, options.tileSize) = (.png, 64)
  }

  private func error(
    _ source: sending some PixelSource, _ options: BuildOptions? = nil, encoder: (any TileEncoder)? = nil
  ) async -> BuildError? {
    do throws(BuildError) {
      _ = try await PyramidBuilder(options: options ?? self.options, threads: 2, encoder: encoder)
        .build(source, to: folder("a.szi"), name: "a")
      return nil
    } catch { return error }
  }

  private func top(_ source: sending some PixelSource, _ options: BuildOptions) async throws -> Picture {
    let report = try await PyramidBuilder(options: options, threads: 2)
      .build(source, to: folder("a.szi"), name: "a")
    return try Picture(level: report.pyramid.topLevel, of: TileArchive(path: folder("a.szi")))
  }

  @Test(arguments: 1...4)
  func `tiles and levels equal those of a PNG file with the same pixels`(bands: Int) async throws {
    let picture = Picture(width: 301, height: 130, bands: bands)
    try picture.writePNG(folder("source.png"))
    let builder = PyramidBuilder(options: options, threads: 2)
    _ = try await builder.build(folder("source.png"), to: folder("file.szi"), name: "a")
    var source = Samples(picture)
    source.micronsPerPixel = Point(x: 0.5, y: 0.25)
    let report = try await builder.build(source, to: folder("pixels.szi"), name: "a")
    try Tool.check(["unzip", "-tqq", folder("pixels.szi")])
    let (one, other) = (
      try TileArchive(path: folder("file.szi")), try TileArchive(path: folder("pixels.szi"))
    )
    #expect(report.pyramid == one.pyramid && other.pyramid == one.pyramid)
    #expect(report.byteCount == other.byteCount)
    for index in 0..<one.pyramid.tileCount {
      let address = one.pyramid.address(at: index)!
      #expect(try one.tile(at: address) == other.tile(at: address))
    }
    #expect(try Picture(level: one.pyramid.topLevel, of: other) == picture)
    #expect(other.micronsPerPixel == Point(x: 0.5, y: 0.25))
    #expect(other.buildRecord == nil)
  }

  @Test func `16-bit samples keep their upper half, or are spread by a window`() async throws {
    let values = (0..<256 * 70).map { UInt16(truncatingIfNeeded: $0 &* 40503) }
    let source = { Samples(width: 256, height: 70, bands: 1, bits: 16, values) }
    #expect(try await top(source(), options).pixels == values.map { UInt8($0 >> 8) })
    var options = options
    options.window = .range(low: .value(1000), high: .value(5095))
    let spread = values.map { (value: UInt16) -> UInt8 in
      let wide: Double = (Double(value) - 1000) * 65535 / 4095 + 0.5
      return UInt8(Int(min(max(wide, 0), 65535)) >> 8)
    }
    #expect(try await top(source(), options).pixels == spread)
    // Alpha is not within the window.
    let pair = Samples(width: 1, height: 1, bands: 2, bits: 16, [5095, 0x1234])
    #expect(try await top(pair, options).pixels == [255, 0x12])
  }

  @Test func `alpha is blended with the background if the tiles have no alpha`() async throws {
    // Flat tiles: JPEG of quality 100 changes them by 1 at most.
    var options = options
    (options.format, options.quality, options.background) = (.jpeg, 100, [10, 200, 30])
    let pixel: [UInt16] = [100, 50, 250, 64]
    let samples = (0..<64 * 64).flatMap { _ in pixel }
    let found = try await top(Samples(width: 64, height: 64, bands: 4, bits: 8, samples), options)
    // c × 64/255 + b × 191/255, by hand.
    let expected = [32.6, 162.4, 85.2]
    #expect(found.bands == 3)
    for (band, value) in expected.enumerated() { #expect(abs(Double(found.pixels[band]) - value) <= 2) }
    // Gray becomes coloured over a coloured background, and stays gray over a gray one.
    let gray = (0..<64 * 64).flatMap { _ in [200, 0] as [UInt16] }
    let over = try await top(Samples(width: 64, height: 64, bands: 2, bits: 8, gray), options)
    for (band, value) in [10, 200, 30].enumerated() { #expect(abs(Int(over.pixels[band]) - value) <= 2) }
    options.background = [7, 7, 7]
    let plain = try await top(Samples(width: 64, height: 64, bands: 2, bits: 8, gray), options)
    #expect(plain.bands == 1 && abs(Int(plain.pixels[0]) - 7) <= 1)
    options.choosesFormat = true
    _ = try await PyramidBuilder(options: options, threads: 1)
      .build(Samples(width: 64, height: 64, bands: 2, bits: 8, gray), to: folder("b.szi"), name: "b")
    #expect(try TileArchive(path: folder("b.szi")).format == .webp)
  }

  @Test(arguments: [TileFormat.png, .webp, .jpeg])
  func `a custom encoder gets the pixels of each tile`(format: TileFormat) async throws {
    let picture = Picture(width: 150, height: 90, bands: 3)
    try picture.writePNG(folder("source.png"))
    // A JPEG with 4:2:0, whose planes are otherwise taken as they are.
    try Tool.check(["vips", "copy", folder("source.png"), folder("source.jpg")])
    let name = format == .jpeg ? "source.jpg" : "source.png"
    let builder = PyramidBuilder(options: options, threads: 2)
    _ = try await builder.build(folder(name), to: folder("png.szi"), name: "a")
    var custom = builder
    custom.encoder = PlainTiles(format: format)
    _ = try await custom.build(folder(name), to: folder("plain.szi"), name: "a")
    let (reference, archive) = (
      try TileArchive(path: folder("png.szi")), try TileArchive(path: folder("plain.szi"))
    )
    #expect(archive.format == format)
    for index in 0..<reference.pyramid.tileCount {
      let address = reference.pyramid.address(at: index)!
      let tile = try reference.picture(address)
      let plain = try #require(try archive.tile(at: address))
      #expect(Array(plain.prefix(3)) == [UInt8(tile.width), UInt8(tile.height), UInt8(tile.bands)])
      #expect(Array(plain.dropFirst(3)) == tile.pixels)
    }
    // A later build knows that the tiles are not its own.
    #expect(archive.buildRecord?.options != reference.buildRecord?.options)
    #expect(archive.buildRecord?.options.hasSuffix(" encoder=other") == true)
  }

  @Test func `errors of a custom source or encoder end the build and leave nothing`() async throws {
    let picture = Picture(width: 100, height: 400, bands: 3)
    var source = Samples(picture)
    source.onRead = { rows in
      if rows.lowerBound > 200 { throw ValidationError(description: "the scanner is off") }
    }
    let read = await error(source)
    #expect(read?.kind == .unreadableSource && read?.reason == "the scanner is off" && read?.source == "a")
    var absent = Samples(picture)
    absent.onRead = { _ in throw CancellationError() }
    #expect(await error(absent)?.kind == .cancelled)
    let encoded = await error(
      Samples(picture), encoder: FailingEncoder(error: ValidationError(description: "no licence")))
    #expect(encoded?.kind == .unreadableSource && encoded?.reason == "no licence")
    #expect(await error(Samples(picture), encoder: FailingEncoder())?.kind == .invalidArgument)
    #expect(folder.files() == [])
  }

  @Test func `impossible sources are rejected`() async {
    func kind(_ width: Int, _ height: Int, bands: Int = 1, bits: Int = 8) async -> BuildError.Kind? {
      await error(Samples(width: width, height: height, bands: bands, bits: bits, [1]))?.kind
    }
    #expect(await kind(1, 1) == nil)
    for (width, height) in [(0, 1), (1, 0), (-5, 1), (.max, .max), (10_000_001, 1)] {
      #expect(await kind(width, height) == .invalidArgument)
    }
    #expect(await kind(10_000_000, 10_000_000) == .invalidArgument)
    for bands in [0, 5, -1] { #expect(await kind(1, 1, bands: bands) == .invalidArgument) }
    for bits in [0, 1, 12, 32] { #expect(await kind(1, 1, bits: bits) == .invalidArgument) }
    var unscaled = Samples(width: 1, height: 1, bands: 1, bits: 8, [1])
    unscaled.micronsPerPixel = Point(x: -1, y: 1)
    #expect(await error(unscaled)?.kind == .invalidArgument)
  }
}
