/// One tile of a viewport's coverage.
public struct CoveredTile: Hashable, Sendable {
  /// Which tile of the pyramid it is.
  public let address: TileAddress
  /// The pixels the tile holds, overlap included, in the space of its level.
  public let source: PixelRect
  /// Where these pixels stand in viewport space, CSS pixels, before the picture is mirrored and turned about the
  /// viewport's centre.
  public let target: Rect
  /// Whether the tile lies outside the visible area and was asked for by a margin.
  public let isPrefetch: Bool
}

/// Which tiles a viewport shows: exactly those whose area meets the visible area. A tile that only
/// touches an edge is not among them.
///
/// Level pixel j covers image pixels [j·2^k, (j+1)·2^k), k = topLevel − level, cut at the image's edge.
public struct Coverage: Sendable {
  /// The image's levels and tiles.
  public let pyramid: Pyramid
  /// The window onto the image.
  public let viewport: Viewport
  /// The coarsest level at least as fine as scale × device pixel ratio asks for, among those to be had.
  public let level: Int
  /// The box around what is seen of the image, image space; nil where nothing is.
  public let visible: Rect?
  private let area: VisibleArea
  private let coarsest: Int

  /// Chooses the level for the viewport's scale.
  ///
  /// - Parameters:
  ///   - pyramid: the image's levels and tiles.
  ///   - viewport: the window onto the image.
  ///   - devicePixelRatio: device pixels per CSS pixel, above 0.
  ///   - coarsest: the coarsest level whose tiles can be had.
  public init(pyramid: Pyramid, viewport: Viewport, devicePixelRatio: Double = 1, coarsest: Int = 0) {
    self.pyramid = pyramid
    self.viewport = viewport
    self.coarsest = coarsest
    level = max(coarsest, pyramid.level(forScale: viewport.scale * devicePixelRatio))
    area = VisibleArea(viewport)
    visible = area.bounds(on: pyramid.imageSize)
  }

  /// The covering tiles of `level`, then those of the `margin` rings around them; each group
  /// nearest the viewport's centre first, by the tile's middle, then by row and column.
  ///
  /// - Parameter margin: rings of tiles around the visible area to fetch ahead; not negative.
  public func tiles(margin: Int = 0) -> [CoveredTile] {
    precondition(margin >= 0, "a margin is not negative")
    let grid = CoveredRows(pyramid: pyramid, level: level, area: area, visible: visible)
    return sorted(grid, prefetch: false) + (margin > 0 ? sorted(grid.ring(margin), prefetch: true) : [])
  }

  /// The tiles of every coarser level that meet the visible area, coarsest level first.
  public func fallbackTiles() -> [CoveredTile] {
    var tiles: [CoveredTile] = []
    for coarser in coarsest..<level {
      let grid = CoveredRows(pyramid: pyramid, level: coarser, area: area, visible: visible)
      tiles += sorted(grid, prefetch: false)
    }
    return tiles
  }

  /// The finest tile that shows the whole image, where it is coarser than `level` and something is visible.
  public var overviewTile: CoveredTile? {
    let single = pyramid.finestSingleTileLevel
    guard visible != nil, single < level, single >= coarsest else { return nil }
    return tile(level: single, 0, 0, false)
  }

  /// How many tiles `tiles(margin:)` would give at most, without making them.
  ///
  /// - Parameter margin: rings of tiles around the visible area.
  public func count(margin: Int = 0) -> Int {
    let grid = CoveredRows(pyramid: pyramid, level: level, area: area, visible: visible)
    return grid.count + (margin > 0 ? grid.ring(margin).count : 0)
  }

  private func sorted(_ grid: CoveredRows, prefetch: Bool) -> [CoveredTile] {
    let center = viewport.imageCenter
    // What is moved about by the sort is small: the tiles are made afterwards.
    var places: [(distance: Double, row: Int, column: Int)] = []
    places.reserveCapacity(grid.count)
    grid.visit { column, row in
      let image = grid.imageRect(column: column, row: row)
      let dx = image.x + image.width / 2 - center.x
      let dy = image.y + image.height / 2 - center.y
      places.append((dx * dx + dy * dy, row, column))
    }
    places.sort(by: <)
    return places.map { tile(level: grid.level, $0.column, $0.row, prefetch) }
  }

  private func tile(level: Int, _ column: Int, _ row: Int, _ prefetch: Bool) -> CoveredTile {
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
