import Foundation
import Imaging
import Testing
import TileGeometry
import TileStorage

@testable import PyramidBuilding

@Suite struct PNGSourceTests {
  private func options(_ format: TileFormat = .jpeg) -> BuildOptions {
    var options = BuildOptions()
    options.tileSize = 256
    options.fidelity = .exact
    options.format = format
    return options
  }

  @Test(arguments: ["none", "sub", "up", "avg", "paeth", "all"])
  func `RGB tiles are dzsave's, whatever filter the file uses`(filter: String) throws {
    let folder = try ScratchFolder()
    let source = try Photograph.autumn.saved(in: folder, as: "photo.png[filter=\(filter)]")
    let comparison = try Comparison(source, options())
    #expect(comparison.route == "exact: PNG rows")
    #expect(try comparison.differingBytes() == [])
  }

  @Test(arguments: Photograph.allCases)
  func `gray tiles are dzsave's`(_ photograph: Photograph) throws {
    let folder = try ScratchFolder()
    let source = try photograph.saved(in: folder, as: "photo.png[filter=all]") { crop in
      let gray = folder.file("gray.v")
      try Vips8.run("colourspace", crop, gray, "b-w")
      return gray
    }
    let comparison = try Comparison(source, options())
    #expect(comparison.route == "exact: PNG rows")
    #expect(try comparison.differingBytes() == [])
  }

  /// Alpha of a photograph's own brightness, so that shrinking has to weigh.
  @Test(arguments: [2, 4])
  func `alpha stays where tiles have it`(bands: Int) throws {
    let folder = try ScratchFolder()
    let source = try Photograph.cups.saved(in: folder, as: "photo.png[filter=all]") { crop in
      let (gray, out) = (folder.file("gray.v"), folder.file("alpha.v"))
      try Vips8.run("colourspace", crop, gray, "b-w")
      try Vips8.run("bandjoin", "\(bands == 2 ? gray : crop) \(gray)", out)
      return out
    }
    let comparison = try Comparison(source, options(.png), suffix: ".png")
    #expect(comparison.route == "exact: PNG rows")
    #expect(try comparison.differingPixels() == [])
  }

  @Test(arguments: ["interlace", "bitdepth=4", "palette", "bitdepth=1"])
  func `what needs conversion goes through libvips`(option: String) throws {
    let folder = try ScratchFolder()
    let source = try Photograph.leaf.saved(in: folder, as: "photo.png[\(option)]", columns: 300, rows: 300)
    let comparison = try Comparison(source, options())
    #expect(comparison.route == "exact: read by libvips")
    #expect(try comparison.differingBytes() == [])
  }

  /// Every byte of a PNG is covered by a checksum or decides how the file is read.
  @Test func `files cut short or with a flipped bit are refused with one line`() throws {
    let folder = try ScratchFolder()
    let source = try Photograph.water.saved(in: folder, as: "photo.png[filter=all]", columns: 300, rows: 200)
    let whole = try #require(FileManager.default.contents(atPath: source))
    var broken = (1..<10).map { whole.prefix(whole.count * $0 / 10) } + [whole.dropLast()]
    for number in 0..<120 {
      var flipped = whole
      let position = number < 70 ? number : (number * 7919 * 131) % whole.count
      flipped[position] ^= UInt8(1 << (number % 8))
      broken.append(flipped)
    }
    for (number, bytes) in broken.enumerated() {
      let reason = try refusal(of: bytes, in: folder)
      #expect(reason != nil, "broken file \(number) was built")
      #expect(reason?.contains("\n") != true)
    }
  }

  @Test(arguments: [
    (20, 10, "its pixel data end before its last row"), (5, 10, "has more pixel data than its size says"),
    (2_147_483_647, 3, "more than its file can hold"), (9_999_999, 9_999_999, "more than its file can hold"),
    (10, 3_000_000_000, "each side is 1 to 2147483647"), (0, 10, "each side is 1 to 2147483647"),
  ])
  func `a size that is not the data's is refused`(height: Int, width: Int, reason: String) throws {
    let folder = try ScratchFolder()
    let rows = [UInt8](repeating: 0, count: 10 * (10 * 3 + 1))
    let file = folder.file("lie.png")
    try Data(PNGBytes.file(width: width, height: height, filtered: rows)).write(
      to: URL(fileURLWithPath: file))
    let error = #expect(throws: BuildError.self) { try read(file) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func `a filter that does not exist is refused`() throws {
    let folder = try ScratchFolder()
    var rows = [UInt8](repeating: 0, count: 10 * (10 * 3 + 1))
    rows[4 * 31] = 5
    let file = folder.file("filter.png")
    try Data(PNGBytes.file(width: 10, height: 10, filtered: rows)).write(to: URL(fileURLWithPath: file))
    let error = #expect(throws: BuildError.self) { try read(file) }
    #expect(error?.reason == "row 4 has filter 5; there are 0 to 4")
  }

  /// Reads a file by the native reader alone.
  private func read(_ path: String) throws {
    let file = try PNGFile(path: path)
    let source = PNGSource(file)
    let size = try #require(PixelSize(width: source.width, height: source.height))
    let pyramid = try #require(Pyramid(imageSize: size, tileSize: 64))
    let strip = Strip(StripLevel(pyramid, shift: 0, layout: source.layout))
    for row in 0..<pyramid.rows(ofLevel: pyramid.topLevel) {
      strip.begin(row: row)
      try source.decode(piece: 0, into: strip)
    }
  }

  private func refusal(of bytes: Data, in folder: ScratchFolder) throws -> String? {
    let file = folder.file("broken.png")
    try bytes.write(to: URL(fileURLWithPath: file))
    do {
      _ = try PyramidBuilder(options: options(), threads: 2)
        .build(file, to: folder.file("broken.szi"), name: "broken")
      return nil
    } catch { return error.reason }
  }
}

/// Writes PNG files that say what they are told to.
enum PNGBytes {
  /// - Parameter filtered: rows with their filters' numbers, RGB.
  static func file(width: Int, height: Int, filtered: [UInt8]) -> [UInt8] {
    [137, 80, 78, 71, 13, 10, 26, 10]
      + chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [8, 2, 0, 0, 0])
      + chunk("IDAT", stored(filtered)) + chunk("IEND", [])
  }

  private static func big(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    return big(UInt32(data.count)) + body + big(body.withUnsafeBytes { checksum($0) })
  }

  /// A zlib stream of one stored block, at most 65535 bytes.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    let (low, high) = (UInt8(bytes.count & 0xff), UInt8(bytes.count >> 8))
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return [0x78, 0x01, 0x01, low, high, ~low, ~high] + bytes + big(b << 16 | a)
  }
}
