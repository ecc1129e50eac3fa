import TileGeometry

/// The size of an image request (IIIF Image API 3.0, section 4.2; 2.1, section 4.2).
struct IIIFSize: Hashable {
  enum Form: Hashable {
    case max
    case full
    case width(Int)
    case height(Int)
    case percent(Double)
    case exact(Int, Int)
    case within(Int, Int)
  }

  let form: Form
  /// Whether the picture may be larger than the region (`^`).
  let mayGrow: Bool

  /// Creates a size from its part of the path; nil if it is malformed or of the other version.
  init?(_ text: UnsafeRawBufferPointer, _ version: IIIFVersion) {
    var reader = PathReader(text)
    let isMarked = reader.skip(UInt8(ascii: "^"))
    guard !isMarked || version == .three else { return nil }
    mayGrow = isMarked || version == .two
    // The form of tiles is first: nearly all sizes have it.
    if let width = reader.digits() {
      guard reader.skip(UInt8(ascii: ",")) else { return nil }
      if reader.isAtEnd {
        form = .width(width)
      } else {
        guard let height = reader.digits() else { return nil }
        form = .exact(width, height)
      }
    } else if reader.skip("max") {
      form = .max
    } else if version == .two, reader.skip("full") {
      form = .full
    } else if reader.skip("pct:") {
      guard let percent = IIIFNumber.decimal(reader.rest) else { return nil }
      form = .percent(percent)
      return
    } else if reader.skip(UInt8(ascii: ",")) {
      guard let height = reader.digits() else { return nil }
      form = .height(height)
    } else {
      guard reader.skip(UInt8(ascii: "!")), let width = reader.digits(), reader.skip(UInt8(ascii: ",")),
        let height = reader.digits()
      else { return nil }
      form = .within(width, height)
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Returns the numbers of `w,` and `w,h`. In version 2 the height of `w,` is nil: its viewers request tiles so and
  /// leave the height to the server. Version 3 keeps the proportions as closely as possible, and its viewers state both
  /// numbers.
  func stated(for region: PixelRect, _ version: IIIFVersion) -> (width: Int, height: Int?)? {
    switch form {
    case .width(let width):
      (width, version == .two || width == 0 ? nil : Self.side(region.height, width, region.width))
    case .exact(let width, let height): (width, height)
    case .max, .full, .height, .percent, .within: nil
    }
  }

  /// Returns the size of the picture in pixels before its rotation.
  func pixels(of region: PixelRect, _ limits: PictureLimits) throws(TileRequestError) -> PixelSize {
    let (width, height) = (region.width, region.height)
    func scaled(_ percent: Double, _ side: Int) -> Int {
      Int(IIIFNumber.pixels(percent, percentOf: side).rounded())
    }
    let asked: (Int, Int)
    switch form {
    case .max: return Self.largest(region, limits)
    case .full: asked = (width, height)
    case .width(let wanted): asked = (wanted, wanted == 0 ? 0 : Self.side(height, wanted, width))
    case .height(let wanted): asked = (wanted == 0 ? 0 : Self.side(width, wanted, height), wanted)
    case .percent(let percent):
      guard percent <= 1e6 else { throw Self.tooLarge(limits) }
      asked = (scaled(percent, width), scaled(percent, height))
    case .exact(let wantedWidth, let wantedHeight): asked = (wantedWidth, wantedHeight)
    case .within(let most, let highest):
      let isWide = Double(width) * Double(highest) >= Double(height) * Double(most)
      asked =
        isWide
        ? (most, most == 0 ? 0 : Self.side(height, most, width))
        : (highest == 0 ? 0 : Self.side(width, highest, height), highest)
    }
    guard asked.0 > 0, asked.1 > 0, let size = PixelSize(width: asked.0, height: asked.1) else {
      throw TileRequestError("the size is below one pixel")
    }
    if !mayGrow, size.width > width || size.height > height {
      throw TileRequestError("the size is larger than the region, which '^' alone allows")
    }
    if !limits.allow(size) {
      // Reduced to the limits (3.0, section 4.2).
      guard case .within = form else { throw Self.tooLarge(limits) }
      return Self.reduced(Double(size.width), Double(size.height), limits)
    }
    return size
  }

  /// Returns the size of the whole region, reduced to the limits if necessary.
  static func largest(_ region: PixelRect, _ limits: PictureLimits) -> PixelSize {
    reduced(Double(region.width), Double(region.height), limits)
  }

  /// Returns the largest size of these proportions within the limits, rounded down so that it stays within.
  private static func reduced(_ width: Double, _ height: Double, _ limits: PictureLimits) -> PixelSize {
    let side = Double(PictureLimits.side)
    let factor = min(1, side / width, side / height, (Double(limits.area) / width / height).squareRoot())
    // A side that a limit reduces to a whole number keeps this number despite rounding errors.
    func reduced(_ side: Double) -> Int { max(1, Int(side * factor + 1e-6)) }
    return PixelSize(width: reduced(width), height: reduced(height))!
  }

  /// Returns `side` scaled as `wanted` is to `original`; at least one pixel.
  static func side(_ side: Int, _ wanted: Int, _ original: Int) -> Int {
    max(1, Int(min(Double(side) * Double(wanted) / Double(original), 1e15).rounded()))
  }

  private static func tooLarge(_ limits: PictureLimits) -> TileRequestError {
    TileRequestError(
      "the picture is larger than \(limits.area) pixels or \(PictureLimits.side) along a side")
  }
}
