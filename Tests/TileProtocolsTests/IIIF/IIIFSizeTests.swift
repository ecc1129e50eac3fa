import Testing
import TileGeometry
import ZigguratTestSupport

@testable import ZigguratTileProtocols

/// Regions and sizes of images of any shape, against an oracle in whole numbers that follows the text of the IIIF Image
/// API alone (3.0 and 2.1, sections 4.1 and 4.2).
struct IIIFSizeTests {
  /// A fraction that is rounded as the oracle says.
  private struct Fraction {
    let numerator, denominator: Int

    var nearest: Int { (2 * numerator + denominator) / (2 * denominator) }

    /// Whether a side may be rounded so: up or down.
    func admits(_ side: Int) -> Bool {
      side == max(1, numerator / denominator)
        || side == max(1, (numerator + denominator - 1) / denominator)
    }
  }

  private struct Oracle {
    let image: PixelSize
    let version: IIIFVersion
    let limits = PictureLimits()

    /// `pct:` has hundredths of a percent.
    enum Region: CustomStringConvertible {
      case full, square
      case pixels(Int, Int, Int, Int)
      case percent(Int, Int, Int, Int)

      var description: String {
        switch self {
        case .full: "full"
        case .square: "square"
        case .pixels(let x, let y, let w, let h): "\(x),\(y),\(w),\(h)"
        case .percent(let x, let y, let w, let h):
          "pct:"
            + [x, y, w, h].map { "\($0 / 100).\($0 % 100 < 10 ? "0" : "")\($0 % 100)" }.joined(separator: ",")
        }
      }
    }

    /// `nil` if the answer is 400.
    func rectangle(_ region: Region) -> PixelRect? {
      func clipped(_ x: Int, _ y: Int, _ w: Int, _ h: Int) -> PixelRect {
        PixelRect(x: x, y: y, width: min(w, image.width - x), height: min(h, image.height - y))
      }
      switch region {
      case .full: return clipped(0, 0, image.width, image.height)
      case .square:
        let side = min(image.width, image.height)
        return clipped((image.width - side) / 2, (image.height - side) / 2, side, side)
      case .pixels(let x, let y, let w, let h):
        guard w > 0, h > 0, x < image.width, y < image.height else { return nil }
        return clipped(x, y, w, h)
      case .percent(let x, let y, let w, let h):
        // It is outside only if it begins at 100 % or more.
        guard w > 0, h > 0, x < 10_000, y < 10_000 else { return nil }
        func pixels(_ hundredths: Int, _ side: Int) -> Int {
          Fraction(numerator: min(hundredths, 10_000) * side, denominator: 10_000).nearest
        }
        return clipped(
          min(pixels(x, image.width), image.width - 1), min(pixels(y, image.height), image.height - 1),
          max(1, pixels(w, image.width)), max(1, pixels(h, image.height)))
      }
    }

    /// `pct:` has hundredths of a percent.
    enum Size: CustomStringConvertible {
      case max
      case width(Int)
      case height(Int)
      case exact(Int, Int)
      case within(Int, Int)
      case percent(Int)

      var description: String {
        switch self {
        case .max: "max"
        case .width(let w): "\(w),"
        case .height(let h): ",\(h)"
        case .exact(let w, let h): "\(w),\(h)"
        case .within(let w, let h): "!\(w),\(h)"
        case .percent(let n): "pct:\(n / 100).\(n % 100 < 10 ? "0" : "")\(n % 100)"
        }
      }
    }

    /// Whether a picture of this size is right; nil stands for the answer 400.
    func admits(_ found: PixelSize?, _ size: Size, grows: Bool, of region: PixelRect) -> Bool {
      let (w, h) = (region.width, region.height)
      let mayGrow = grows || version == .two
      /// An answer with exactly these sides, unless they break a rule.
      func isExactly(_ width: Int, _ height: Int) -> Bool {
        guard width > 0, height > 0, mayGrow || width <= w && height <= h, width <= PictureLimits.side,
          height <= PictureLimits.side, width * height <= limits.area
        else { return found == nil }
        return found == PixelSize(width: width, height: height)
      }
      switch size {
      // `^max` is answered with the region's own size, as the validators expect it.
      case .max: return isLargest(found, w, h)
      case .exact(let width, let height): return isExactly(width, height)
      case .percent(let n):
        return isExactly(
          Fraction(numerator: n * w, denominator: 10_000).nearest,
          Fraction(numerator: n * h, denominator: 10_000).nearest)
      case .height(let height):
        return isExactly(
          height == 0 ? 0 : Swift.max(1, Fraction(numerator: w * height, denominator: h).nearest), height)
      case .width(let width):
        let follows = Fraction(numerator: h * width, denominator: w)
        // Viewers of version 2 ask so for tiles, whose sides are rounded up. A tile that is a part of the image is
        // checked by the grid's own tests.
        if version == .two, let found, found.width == width, width <= w {
          return follows.admits(found.height) || isOnGrid(region)
        }
        return isExactly(width, width == 0 ? 0 : Swift.max(1, follows.nearest))
      case .within(let width, let height):
        guard width > 0, height > 0 else { return found == nil }
        let box = (width, height)
        let isWide = w * box.1 >= h * box.0
        let (wide, high) =
          isWide
          ? (box.0, Swift.max(1, Fraction(numerator: h * box.0, denominator: w).nearest))
          : (Swift.max(1, Fraction(numerator: w * box.1, denominator: h).nearest), box.1)
        // As both public validators have it: a box that asks for more than the region's pixels takes `^`.
        if !mayGrow, wide > w || high > h { return found == nil }
        return isLargest(found, wide, high)
      }
    }

    private func isOnGrid(_ region: PixelRect) -> Bool {
      region.width != image.width || region.height != image.height
    }

    /// The sides, or the largest of their proportions within the limits: within a pixel of one of these.
    private func isLargest(_ found: PixelSize?, _ width: Int, _ height: Int) -> Bool {
      guard let found else { return false }
      if width <= PictureLimits.side, height <= PictureLimits.side, width * height <= limits.area {
        return found == PixelSize(width: width, height: height)
      }
      let scale = min(
        Double(PictureLimits.side) / Double(width), Double(PictureLimits.side) / Double(height),
        (Double(limits.area) / Double(width) / Double(height)).squareRoot())
      return limits.allow(found) && abs(Double(found.width) - Swift.max(1, Double(width) * scale)) <= 1
        && abs(Double(found.height) - Swift.max(1, Double(height) * scale)) <= 1
    }
  }

  /// The size of the answer; nil for 400.
  private static func size(_ path: String, in pyramid: Pyramid) throws -> PixelSize? {
    guard let request = ReadRequest(path) else { throw TileRequestError("no request") }
    switch request.place(in: pyramid) {
    case .picture(let picture): return picture.size
    case .stored(let tile):
      return pyramid.rectangle(of: tile).flatMap { PixelSize(width: $0.width, height: $0.height) }
    case .notFound(let refusal):
      if refusal.status != 400 { Issue.record("\(path) is \(refusal.status)") }
      return nil
    case .crop: return nil
    }
  }

  private static let narrow = [
    (300, 60_000), (7, 4000), (5000, 1), (1, 5000), (1, 1), (2, 3), (513, 1), (20_000, 90), (3, 65_537),
    (65_537, 3),
    (1700, 1100), (1001, 667), (512, 512), (513, 513), (1023, 1025), (99_999, 2), (255, 257),
    (33_000, 33_000),
  ]

  @Test("every size and region of more than 200 odd images matches the specification")
  func everySize() throws {
    let seed = SplitMix.runSeed
    var random = SplitMix(seed)
    var images = Self.narrow
    while images.count < 220 {
      let (long, short) = (random.side(bits: 16), random.side(bits: 1 + random.below(13)))
      images.append(random.sometimes(2) ? (long, short) : (short, long))
    }
    var (answered, refused) = (0, 0)
    for (width, height) in images {
      let image = PixelSize(width: width, height: height)!
      let pyramid = Pyramid(imageSize: image, tileSize: random.pick([128, 254, 256, 512]))!
      for version in IIIFVersion.allCases {
        let oracle = Oracle(image: image, version: version)
        let regions: [Oracle.Region] = [
          .full, .square, .pixels(0, 0, width, height),
          .pixels(
            random.below(width + 2), random.below(height + 2), random.below(width + 2),
            1 + random.below(height)),
          .pixels(width / 2, height / 3, width, height), .percent(0, 5000, 10_000, 5000),
          .percent(5000, 0, 5000, 10_000), .percent(9999, 9999, 1, 1),
          .percent(random.below(10_100), random.below(10_100), random.below(12_000), 1 + random.below(9000)),
        ]
        for region in regions {
          let rectangle = oracle.rectangle(region)
          let (w, h) = (rectangle?.width ?? 9, rectangle?.height ?? 9)
          var sizes: [Oracle.Size] = [
            .max, .exact(1 + random.below(w), 1 + random.below(h)), .exact(w + 1, h), .percent(5000),
            .percent(1),
            .percent(1 + random.below(10_000)), .percent(12_500),
            .within(1 + random.below(2 * w), 1 + random.below(2 * h)),
            .within(100, 100), .within(w + 7, 3 * h), .within(0, 5), .width(0), .width(w), .width(w + 1),
            .height(h),
            .height(h + 1), .height(1), .height(1 + random.below(h)),
          ]
          // Every level's own width, in reach of which narrow images have several levels.
          for shift in 0..<min(pyramid.levelCount, 18) where w < 100 || shift < 3 {
            sizes.append(.width(Pyramid.halved(w, times: shift)))
          }
          for size in sizes {
            for grows in version == .three ? [false, true] : [false] {
              let path = "/iiif/\(version.rawValue)/x/\(region)/\(grows ? "^" : "")\(size)/0/default.jpg"
              let found = try Self.size(path, in: pyramid)
              let isRight =
                rectangle.map { oracle.admits(found, size, grows: grows, of: $0) } ?? (found == nil)
              if !isRight {
                Issue.record("\(width)×\(height), seed \(seed): \(path) is \(found.map { "\($0)" } ?? "400")")
              }
              if found == nil { refused += 1 } else { answered += 1 }
            }
          }
        }
      }
    }
    #expect(answered > 50_000 && refused > 5000)
  }

  @Test("the canonical request of every response gives the same picture")
  func canonical() throws {
    var random = SplitMix(7)
    for (width, height) in Self.narrow {
      let image = PixelSize(width: width, height: height)!
      let pyramid = Pyramid(imageSize: image, tileSize: 256)!
      for _ in 0..<200 {
        for version in IIIFVersion.allCases {
          let (w, h) = (1 + random.below(width), 1 + random.below(height))
          let size = random.pick(["\(w),", ",\(h)", "\(w),\(h)", "!\(w),\(h)", "max"])
          let region = random.pick(["full", "square", "pct:0,50,100,50", "0,0,\(w),\(h)"])
          let asked = try #require(ReadRequest("/iiif/\(version.rawValue)/x/\(region)/\(size)/0/default.jpg"))
          guard let link = asked.link(in: pyramid) else { continue }
          let path = String(link.prefix { $0 != ">" }.dropFirst("<http://host".count))
          let again = try #require(ReadRequest(path))
          #expect(
            again.place(in: pyramid) == asked.place(in: pyramid),
            "\(width)×\(height) \(region)/\(size): \(path)")
          #expect(again.link(in: pyramid) == link)
        }
      }
    }
  }

  @Test(
    "narrow images keep their proportions",
    arguments: [
      (300, 60_000, "full/3,", 3, 600), (7, 4000, "full/1,", 1, 571),
      (5000, 1, "pct:0,50,100,50/max", 5000, 1),
      (1, 5000, "pct:50,0,50,100/max", 1, 5000), (300, 200, "full/^!600,600", 600, 400),
    ])
  func narrow(width: Int, height: Int, request: String, expectedWidth: Int, expectedHeight: Int) throws {
    let pyramid = Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: 512)!
    let size = try Self.size("/iiif/3/x/\(request)/0/default.jpg", in: pyramid)
    #expect(size == PixelSize(width: expectedWidth, height: expectedHeight))
    if request.contains("!") { return }
    let old = try Self.size("/iiif/2/x/\(request)/0/default.jpg", in: pyramid)
    #expect(old == PixelSize(width: expectedWidth, height: expectedHeight))
  }
}
