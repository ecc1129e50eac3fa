/// One tile of the coverage of a viewport.
public struct CoveredTile: Hashable, Sendable {
  /// The position of the tile in the pyramid.
  public let address: TileAddress
  /// The pixels of the tile, overlap included, in level space.
  public let source: PixelRect
  /// The place of these pixels in viewport space, in CSS pixels. It applies before the picture is mirrored and rotated
  /// about the viewport's centre.
  public let target: Rect
  /// Whether the tile lies outside the visible area and is included because of a margin.
  public let isPrefetch: Bool
}

/// The tiles that a viewport shows: exactly those whose area meets the visible area. A tile that only touches an
/// edge is not included.
///
/// Level pixel j covers image pixels [j·2^k, (j+1)·2^k), k = topLevel − level, cut at the image's edge.
///
/// No function traps. None needs memory or time beyond its `limit`, for images and viewports of any size.
public struct Coverage: Sendable {
  /// The levels and tiles of the image.
  public let pyramid: Pyramid
  /// The window onto the image.
  public let viewport: Viewport
  /// The coarsest available level that is at least as fine as scale × device pixel ratio requires.
  public let level: Int
  /// The box around the visible part of the image, image space; `nil` if nothing is visible.
  public let visible: Rect?
  private let area: VisibleArea
  private let coarsest: Int

  /// The default of the largest number of tiles in a result: 65,536.
  public static var defaultLimit: Int { 1 << 16 }
  /// The largest margin, in tiles; a larger one counts as this.
  public static var maximumMargin: Int { 1024 }

  /// Chooses the level for the scale of a viewport.
  ///
  /// - Parameters:
  ///   - pyramid: the levels and tiles of the image.
  ///   - viewport: the window onto the image.
  ///   - devicePixelRatio: device pixels per CSS pixel; a value that is not finite and above 0 counts as 1.
  ///   - coarsest: the coarsest level whose tiles are available, clamped to the levels of the pyramid.
  public init(pyramid: Pyramid, viewport: Viewport, devicePixelRatio: Double = 1, coarsest: Int = 0) {
    self.pyramid = pyramid
    self.viewport = viewport
    self.coarsest = min(max(coarsest, 0), pyramid.topLevel)
    let ratio = devicePixelRatio > 0 && devicePixelRatio.isFinite ? devicePixelRatio : 1
    level = max(self.coarsest, pyramid.level(forScale: viewport.scale * ratio))
    area = VisibleArea(viewport)
    visible = area.bounds(on: pyramid.imageSize)
  }

  /// Returns the tiles of `level` that meet the visible area, then those of the `margin` rings around them. Each group
  /// is sorted by the distance of the tile's middle from the viewport's centre, then by row and column.
  ///
  /// - Parameters:
  ///   - margin: rings of tiles around the visible area to fetch ahead, clamped to `0...maximumMargin`.
  ///   - limit: the largest number of tiles. If there are more, the rings are omitted. If the visible tiles alone are
  ///     more, those of a block of rows and columns around the viewport's centre are returned.
  public func tiles(margin: Int = 0, limit: Int = defaultLimit) -> [CoveredTile] {
    let (core, all) = sets(margin: margin, limit: limit)
    return sorted(core, prefetch: false) + (margin > 0 ? sorted(all, without: core, prefetch: true) : [])
  }

  /// Returns the tiles of `level` that meet the visible area, with those of the `margin` rings around them, in the
  /// order of rows and columns. Unlike `tiles(margin:limit:)` it needs memory for the rows only.
  ///
  /// - Parameter margin: rings of tiles around the visible area, clamped to `0...maximumMargin`.
  public func tileSet(margin: Int = 0) -> TileSet {
    tileSet(ofLevel: level).widened(by: min(margin, Self.maximumMargin), in: pyramid)
  }

  /// Returns the tiles of every coarser level that meet the visible area, coarsest level first.
  ///
  /// - Parameter limit: the largest number of tiles. The levels share it from the coarsest on. If a level exceeds the
  ///   rest, the tiles of a block of rows and columns around the viewport's centre are returned.
  public func fallbackTiles(limit: Int = defaultLimit) -> [CoveredTile] {
    var tiles: [CoveredTile] = []
    for coarser in coarsest..<level {
      tiles += sorted(narrowed(tileSet(ofLevel: coarser), to: limit - tiles.count), prefetch: false)
    }
    return tiles
  }

  /// The finest tile that shows the whole image, if it is coarser than `level` and something is visible.
  public var overviewTile: CoveredTile? {
    let single = pyramid.finestSingleTileLevel
    guard visible != nil, single < level, single >= coarsest else { return nil }
    return tile(level: single, 0, 0, false)
  }

  /// Returns the number of tiles that `tiles(margin:limit:)` finds without a limit.
  ///
  /// - Parameter margin: rings of tiles around the visible area, clamped to `0...maximumMargin`.
  public func count(margin: Int = 0) -> Int { tileSet(margin: margin).count }

  /// Returns the visible tiles, and all tiles with those of the margin, as far as a limit allows.
  func sets(margin: Int, limit: Int) -> (core: TileSet, all: TileSet) {
    let visible = tileSet(ofLevel: level)
    let all = visible.widened(by: min(margin, Self.maximumMargin), in: pyramid)
    if all.count <= limit { return (visible, all) }
    let core = narrowed(visible, to: limit)
    return (core, core)
  }

  private func tileSet(ofLevel level: Int) -> TileSet {
    TileSet(pyramid: pyramid, level: level, area: area, visible: visible, center: viewport.imageCenter)
  }

  private func narrowed(_ set: TileSet, to limit: Int) -> TileSet {
    let cell = Double(pyramid.tileSize) / pyramid.scale(ofLevel: set.level)
    let center = viewport.imageCenter
    return set.narrowed(to: limit, around: Point(x: center.x / cell, y: center.y / cell))
  }

  private func sorted(_ set: TileSet, without core: TileSet? = nil, prefetch: Bool) -> [CoveredTile] {
    let center = viewport.imageCenter
    // The sort moves small values; the tiles are created afterwards.
    var places: [(distance: Double, row: Int, column: Int)] = []
    places.reserveCapacity(core == nil ? set.count : 0)
    for address in set {
      if let core, core.contains(address) { continue }
      let middle = area(of: address).center
      let (dx, dy) = (middle.x - center.x, middle.y - center.y)
      places.append((dx * dx + dy * dy, address.row, address.column))
    }
    places.sort(by: <)
    return places.map { tile(level: set.level, $0.column, $0.row, prefetch) }
  }

  /// Returns the area of a tile without overlap, image space, cut at the image's edge.
  private func area(of address: TileAddress) -> Rect {
    let cell = Double(pyramid.tileSize) / pyramid.scale(ofLevel: address.level)
    let (left, top) = (Double(address.column) * cell, Double(address.row) * cell)
    let right = min(left + cell, Double(pyramid.imageSize.width))
    let bottom = min(top + cell, Double(pyramid.imageSize.height))
    return Rect(x: left, y: top, width: right - left, height: bottom - top)
  }

  func tile(level: Int, _ column: Int, _ row: Int, _ prefetch: Bool) -> CoveredTile {
    let size = pyramid.size(ofLevel: level)
    let (x, width) = pyramid.span(column, size.width)
    let (y, height) = pyramid.span(row, size.height)
    let unit = 1 / pyramid.scale(ofLevel: level)
    let left = Double(x) * unit
    let top = Double(y) * unit
    let right = min(Double(x + width) * unit, Double(pyramid.imageSize.width))
    let bottom = min(Double(y + height) * unit, Double(pyramid.imageSize.height))
    let scale = viewport.scale
    return CoveredTile(
      address: TileAddress(level: level, column: column, row: row),
      source: PixelRect(x: x, y: y, width: width, height: height),
      target: Rect(
        x: left * scale - viewport.x, y: top * scale - viewport.y,
        width: (right - left) * scale, height: (bottom - top) * scale),
      isPrefetch: prefetch)
  }
}
