/// The levels and tiles of one image: every level is half of the one above, rounded up,
/// down to 1×1; tiles are square, `tileSize` apart, and reach `overlap` pixels into their neighbours.
///
/// Deep Zoom's own scheme. With `overlap` 0 its grid is also that of IIIF and XYZ.
public struct Pyramid: Hashable, Sendable {
  /// The image's extent at full resolution.
  public let imageSize: PixelSize
  /// The distance between neighbouring tiles' origins, level pixels.
  public let tileSize: Int
  /// How far a tile reaches over each inner edge, level pixels.
  public let overlap: Int
  /// How many levels there are: the halvings, rounded up, that bring the longer side down to 1, plus 1.
  public let levelCount: Int
  /// How many tiles all levels have together.
  public let tileCount: Int

  /// The pyramid of an image; nil for a tile size below 1, an overlap that is negative or not below the tile size,
  /// or more tiles than an `Int` counts.
  public init?(imageSize: PixelSize, tileSize: Int, overlap: Int = 0) {
    guard tileSize >= 1, overlap >= 0, overlap < max(tileSize, 1) else { return nil }
    self.imageSize = imageSize
    self.tileSize = tileSize
    self.overlap = overlap
    levelCount = Self.levelCount(ofLongerSide: max(imageSize.width, imageSize.height))
    var total = 0
    for shift in 0..<levelCount {
      let columns = Self.tiles(Self.halved(imageSize.width, times: shift), tileSize)
      let rows = Self.tiles(Self.halved(imageSize.height, times: shift), tileSize)
      let (count, tooMany) = columns.multipliedReportingOverflow(by: rows)
      let (sum, overflow) = total.addingReportingOverflow(count)
      guard !tooMany, !overflow else { return nil }
      total = sum
    }
    tileCount = total
  }

  /// The level of full resolution, the last.
  public var topLevel: Int { levelCount - 1 }

  /// The extent of a level in its own pixels.
  ///
  /// - Precondition: the level is within the pyramid.
  public func size(ofLevel level: Int) -> PixelSize {
    let shift = shift(ofLevel: level)
    return PixelSize(
      unchecked: Self.halved(imageSize.width, times: shift), Self.halved(imageSize.height, times: shift))
  }

  /// How many times the image was halved to reach `level`: one level pixel covers 2^shift image pixels.
  public func shift(ofLevel level: Int) -> Int {
    precondition(level >= 0 && level < levelCount, "level outside the pyramid")
    return topLevel - level
  }

  /// How many tiles a level has from left to right.
  ///
  /// - Precondition: the level is within the pyramid.
  public func columns(ofLevel level: Int) -> Int { Self.tiles(size(ofLevel: level).width, tileSize) }

  /// How many tiles a level has from top to bottom.
  ///
  /// - Precondition: the level is within the pyramid.
  public func rows(ofLevel level: Int) -> Int { Self.tiles(size(ofLevel: level).height, tileSize) }

  /// Whether the pyramid has a tile of this address.
  public func contains(_ address: TileAddress) -> Bool {
    address.level >= 0 && address.level < levelCount
      && address.column >= 0 && address.column < columns(ofLevel: address.level)
      && address.row >= 0 && address.row < rows(ofLevel: address.level)
  }

  /// The pixels a tile holds, overlap included, in the space of its level; nil outside the pyramid.
  public func rectangle(of address: TileAddress) -> PixelRect? {
    guard contains(address) else { return nil }
    let size = size(ofLevel: address.level)
    let (x, width) = span(address.column, size.width)
    let (y, height) = span(address.row, size.height)
    return PixelRect(x: x, y: y, width: width, height: height)
  }

  /// Start and length of the `index`th tile along a side of `length` level pixels.
  func span(_ index: Int, _ length: Int) -> (start: Int, length: Int) {
    let start = index * tileSize - (index > 0 ? overlap : 0)
    // The end is reckoned from what is left, since (index + 1) × tileSize may not fit an Int.
    let core = length - index * tileSize
    let end = core <= tileSize || core - tileSize <= overlap ? length : (index + 1) * tileSize + overlap
    return (start, end - start)
  }

  /// The bits needed to halve `side` down to 1, rounding up, plus 1.
  public static func levelCount(ofLongerSide side: Int) -> Int {
    precondition(side >= 1, "a side is at least 1")
    return Int.bitWidth - (side - 1).leadingZeroBitCount + 1
  }

  /// `length` halved `times` times, rounded up each time.
  public static func halved(_ length: Int, times: Int) -> Int {
    // Rounding up each time equals rounding up once: ceil(ceil(n/2)/2) = ceil(n/4).
    ((length - 1) >> times) + 1
  }

  /// Tiles along a side: ceil(length / tileSize); overlap does not change it.
  static func tiles(_ length: Int, _ tileSize: Int) -> Int { (length - 1) / tileSize + 1 }
}
