import Foundation
import Testing
import TileGeometry
import TileStorage
import ZigguratTestSupport

@testable import PyramidBuilding

/// Files that are no images: each is rejected with one line and leaves nothing.
struct BadSourceTests {
  /// Builds `source` into a folder of its own; the reason it was refused for, or nil.
  private static func refusal(
    _ source: String, _ format: TileFormat = .jpeg, failOn: FailOn = .error
  ) throws -> String? {
    let folder = try TemporaryFolder()
    var options = BuildOptions()
    (options.tileSize, options.format, options.failOn) = (64, format, failOn)
    var reason: String?
    do {
      _ = try PyramidBuilder(options: options, threads: 2).build(source, to: folder("a.szi"), name: "a")
    } catch { reason = error.description }
    #expect(folder.files() == (reason == nil ? ["a.szi"] : []), "\(source): \(reason ?? "built")")
    if let reason {
      #expect(reason.hasPrefix("\(source): ") && reason.count > source.count + 8, "\(reason)")
      #expect(!reason.contains("\n"), "\(reason)")
    }
    return reason
  }

  private static let otherFiles: [(name: String, content: [UInt8])] = [
    ("text.png", Array("This is no picture.\n".utf8)), ("empty.jpg", []),
    ("zero.tif", Array(repeating: 0, count: 999)),
    ("soi.jpg", [0xff, 0xd8]), ("soi-eoi.jpg", [0xff, 0xd8, 0xff, 0xd9]),
    ("signature.png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ("tiff.tif", Array("II*\0".utf8)),
    ("webp.webp", Array("RIFF\0\0\0\0WEBP".utf8)), ("gif.gif", Array("GIF89a".utf8)),
    ("huge.ppm", Array("P6 2147483647 2147483647 255\n".utf8)), ("none.ppm", Array("P6 0 5 255\n".utf8)),
    ("minus.ppm", Array("P6 -4 5 255\n".utf8)), ("page.html", Array("<html><body>no</body></html>".utf8)),
  ]

  @Test("files that are no images are rejected", arguments: otherFiles)
  func noImages(name: String, content: [UInt8]) throws {
    let folder = try TemporaryFolder()
    #expect(try Self.refusal(folder.write(name, content)) != nil)
  }

  @Test("a truncated image is rejected", arguments: ["jpg", "png", "tif", "webp"])
  func truncated(ending: String) throws {
    let folder = try TemporaryFolder()
    try Picture(width: 300, height: 300, bands: 3).writePNG(folder("whole.png"))
    try Tool.check(["vips", "copy", folder("whole.png"), folder("source.\(ending)")])
    let whole = try bytes(ofFile: folder("source.\(ending)"))
    for tenth in 0..<10 {
      let source = try folder.write("cut.\(ending)", whole[..<(whole.count * tenth / 10)])
      #expect(try Self.refusal(source) != nil, "\(tenth) tenths")
    }
    #expect(try Self.refusal(folder("source.\(ending)")) == nil)
  }

  @Test("a small PNG cut or changed at any byte is rejected", arguments: [1, 4])
  func damagedPNG(bands: Int) throws {
    let folder = try TemporaryFolder()
    let whole = try Picture(width: 5, height: 3, bands: bands).image.pngBytes()
    #expect(try Self.refusal(folder.write("whole.png", whole), .png) == nil)
    for at in 0..<whole.count {
      #expect(try Self.refusal(folder.write("cut.png", whole[..<at]), .png) != nil, "cut at \(at)")
      var changed = whole
      changed[at] ^= 1 << UInt8(at % 8)
      let reason = try Self.refusal(folder.write("changed.png", changed), .png)
      // Damage outside header and pixels is a warning.
      if (8..<33).contains(at) || PNGChunks(whole).isPixelData(at) { #expect(reason != nil, "byte \(at)") }
    }
  }

  @Test("a JPEG with damaged bytes gives a picture or one line of error")
  func damagedJPEG() throws {
    let folder = try TemporaryFolder()
    try Picture(width: 70, height: 50, bands: 3).writePNG(folder("whole.png"))
    try Tool.check(["vips", "copy", folder("whole.png"), folder("whole.jpg")])
    let whole = try bytes(ofFile: folder("whole.jpg"))
    var random = SplitMix(SplitMix.runSeed)
    for number in 0..<120 {
      var changed = whole
      // Mostly in the headers, which decide more.
      let at = number % 3 == 0 ? random.below(whole.count) : random.below(min(700, whole.count))
      changed[at] = UInt8(truncatingIfNeeded: random.next())
      _ = try Self.refusal(folder.write("changed.jpg", changed))
    }
  }

  @Test("devices, pipes and folders are rejected at once")
  func devices() throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder("pipe.png"), 0o644) == 0)
    for path in ["/dev/zero", "/dev/null", folder("pipe.png")] {
      #expect(try Self.refusal(path) == "\(path): is a device or a pipe, not a regular file")
    }
    #expect(try Self.refusal(folder.path) == "\(folder.path): is a folder, not an image")
    #expect(symlink("loop.png", folder("loop.png")) == 0)
    #expect(
      try Self.refusal(folder("loop.png")) == "\(folder("loop.png")): Too many levels of symbolic links")
  }

  @Test("a file without read permission is rejected", .enabled(if: getuid() != 0, "root may read every file"))
  func unreadable() throws {
    let folder = try TemporaryFolder()
    let source = try folder.write("secret.png", [1, 2, 3])
    #expect(chmod(source, 0) == 0)
    #expect(try Self.refusal(source) == "\(source): Permission denied")
  }
}

/// The chunks of a PNG file, by place.
struct PNGChunks {
  /// Names with the ranges of whole chunks, length and checksum included.
  private(set) var chunks: [(name: String, range: Range<Int>)] = []
  let file: [UInt8]

  init(_ file: [UInt8]) {
    self.file = file
    var at = 8
    while at + 12 <= file.count {
      let length = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      let name = String(decoding: file[at + 4..<at + 8], as: UTF8.self)
      chunks.append((name, at..<at + 12 + length))
      at += 12 + length
    }
  }

  func isPixelData(_ place: Int) -> Bool {
    chunks.contains { $0.name == "IDAT" && $0.range.contains(place) }
  }

  /// The same file with its pixel data in chunks of `size` bytes, an empty one in front.
  func recut(_ size: Int) -> [UInt8] {
    let data = chunks.filter { $0.name == "IDAT" }.flatMap { file[$0.range.dropFirst(8).dropLast(4)] }
    var result = Array(file[..<8])
    var isWritten = false
    for (name, range) in chunks {
      guard name == "IDAT" else {
        result += file[range]
        continue
      }
      guard !isWritten else { continue }
      isWritten = true
      result += Self.chunk([])
      for start in stride(from: 0, to: data.count, by: size) {
        result += Self.chunk(Array(data[start..<min(start + size, data.count)]))
      }
    }
    return result
  }

  private static func chunk(_ data: [UInt8]) -> [UInt8] {
    func big(_ number: UInt32) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    let body = Array("IDAT".utf8) + data
    return big(UInt32(data.count)) + body + big(body.withUnsafeBytes { checksum($0) })
  }
}
