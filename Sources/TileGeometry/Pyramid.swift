/// The levels and tiles of one image.
///
/// Each level has half the sides of the next finer one, rounded up, down to 1×1 pixel. Tiles are square and start
/// `tileSize` pixels apart. A tile extends `overlap` pixels into each of its neighbours. This is the scheme of the
/// Deep Zoom file format. With an overlap of 0 the grid is also that of IIIF and XYZ.
///
/// No function of a pyramid traps: a level outside the pyramid is clamped to its range.
public struct Pyramid: Hashable, Sendable {
  /// The size of the image at full resolution.
  public let imageSize: PixelSize
  /// The distance between the origins of neighbouring tiles in level pixels.
  public let tileSize: Int
  /// The number of level pixels by which a tile extends over each inner edge.
  public let overlap: Int
  /// The number of levels: 1 plus the halvings, rounded up, that reduce the longer side to 1.
  public let levelCount: Int
  /// The number of tiles of all levels together.
  public let tileCount: Int

  /// Creates the pyramid of an image.
  ///
  /// Returns `nil` if the tile size is below 1, or if the overlap is negative or not below the tile size. Also returns
  /// `nil` if the number of tiles exceeds `Int.max`.
  ///
  /// - Parameters:
  ///   - imageSize: the size of the image at full resolution.
  ///   - tileSize: the distance between neighbouring tiles in level pixels.
  ///   - overlap: the level pixels that a tile shares with each neighbour beyond its own.
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

  /// The level of full resolution, which is the last one.
  public var topLevel: Int { levelCount - 1 }

  /// Returns the size of a level in its own pixels.
  ///
  /// - Parameter level: clamped to `0...topLevel`.
  public func size(ofLevel level: Int) -> PixelSize {
    let shift = shift(ofLevel: level)
    return PixelSize(
      unchecked: Self.halved(imageSize.width, times: shift), Self.halved(imageSize.height, times: shift))
  }

  /// Returns how many times the image was halved to reach a level: a level pixel covers 2^shift image pixels.
  ///
  /// - Parameter level: clamped to `0...topLevel`.
  public func shift(ofLevel level: Int) -> Int { topLevel - min(max(level, 0), topLevel) }

  /// Returns the number of tiles of a level from left to right.
  ///
  /// - Parameter level: clamped to `0...topLevel`.
  public func columns(ofLevel level: Int) -> Int { Self.tiles(size(ofLevel: level).width, tileSize) }

  /// Returns the number of tiles of a level from top to bottom.
  ///
  /// - Parameter level: clamped to `0...topLevel`.
  public func rows(ofLevel level: Int) -> Int { Self.tiles(size(ofLevel: level).height, tileSize) }

  /// Whether the pyramid has a tile with this address.
  public func contains(_ address: TileAddress) -> Bool {
    address.level >= 0 && address.level < levelCount
      && address.column >= 0 && address.column < columns(ofLevel: address.level)
      && address.row >= 0 && address.row < rows(ofLevel: address.level)
  }

  /// Returns the pixels of a tile, overlap included, in level space; `nil` outside the pyramid.
  public func rectangle(of address: TileAddress) -> PixelRect? {
    guard contains(address) else { return nil }
    let size = size(ofLevel: address.level)
    let (x, width) = span(address.column, size.width)
    let (y, height) = span(address.row, size.height)
    return PixelRect(x: x, y: y, width: width, height: height)
  }

  /// Returns the start and the length of the `index`th tile along a side of `length` level pixels.
  func span(_ index: Int, _ length: Int) -> (start: Int, length: Int) {
    let start = index * tileSize - (index > 0 ? overlap : 0)
    // The end is computed from the remaining length, since (index + 1) × tileSize may exceed Int.max.
    let core = length - index * tileSize
    let end = core <= tileSize || core - tileSize <= overlap ? length : (index + 1) * tileSize + overlap
    return (start, end - start)
  }

  /// Returns the number of levels of an image: 1 plus the halvings, rounded up, that reduce `side` to 1.
  ///
  /// - Parameter side: the longer side in image pixels; a value below 1 counts as 1.
  public static func levelCount(ofLongerSide side: Int) -> Int {
    Int.bitWidth - (max(side, 1) - 1).leadingZeroBitCount + 1
  }

  /// Returns a length after a number of halvings, rounded up each time.
  ///
  /// - Parameters:
  ///   - length: pixels; a value below 1 counts as 1.
  ///   - times: the number of halvings; a negative value counts as 0.
  public static func halved(_ length: Int, times: Int) -> Int {
    // Rounding up each time equals rounding up once: ceil(ceil(n/2)/2) = ceil(n/4).
    ((max(length, 1) - 1) >> max(times, 0)) + 1
  }

  /// Returns the number of tiles along a side: ceil(length / tileSize). The overlap does not change it.
  static func tiles(_ length: Int, _ tileSize: Int) -> Int { (length - 1) / tileSize + 1 }
}
