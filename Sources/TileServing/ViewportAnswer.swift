public import TileGeometry
public import TileStorage

/// Which tiles of an image cover a viewport, as JSON.
public struct ViewportAnswer {
  public let query: ViewportQuery
  public let coverage: Coverage
  private let limits: ScaleLimits
  /// What `/api/images/{id}` answers, as it is, where the query asks for it.
  var description: [UInt8]?
  private let id: String
  private let urls: TileURLs

  /// More tiles than a viewer could use: the query is refused, not answered slowly.
  public static let tileLimit = 100_000

  /// - Parameter base: in front of every URL, without a slash at its end; empty for root-relative ones.
  public init(
    _ query: ViewportQuery, id: String, archive: SZIArchive, base: String = ""
  ) throws(ViewportQuery.Refusal) {
    self.query = query
    self.id = id
    let (viewport, limits) = query.viewport(on: archive.pyramid.imageSize)
    self.limits = limits
    coverage = Coverage(
      pyramid: query.scheme.grid(of: archive.pyramid), viewport: viewport,
      devicePixelRatio: query.devicePixelRatio,
      coarsest: query.scheme.coarsestLevel(of: archive.pyramid))
    guard coverage.count(margin: query.margin) <= Self.tileLimit else {
      throw ViewportQuery.Refusal(
        parameter: "width", value: "\(query.width)",
        allowed: "with this height, dpr and margin, what \(Self.tileLimit) tiles cover")
    }
    urls = TileURLs(query.scheme, id: id, archive: archive, base: base)
  }

  /// Coarser tiles first where they are asked for, then those of the level, nearest the centre first.
  public var tiles: [CoveredTile] {
    var coarser = query.fallback ? coverage.fallbackTiles() : []
    // Among the coarser ones it is already, where something of the image is visible.
    if query.overview, !query.fallback, let whole = coverage.overviewTile { coarser = [whole] }
    return coarser + coverage.tiles(margin: query.margin)
  }

  public var json: [UInt8] { json(of: tiles) }

  func json(of tiles: [CoveredTile]) -> [UInt8] {
    var text = JSONText(capacity: 512 + tiles.count * 256)
    text.object { text in
      text.key("image")
      text.value(id)
      if let description {
        text.key("description")
        text.value(json: description)
      }
      text.key("level")
      text.value(coverage.level)
      text.key("levelScale")
      text.value(coverage.pyramid.scale(ofLevel: coverage.level))
      text.key("viewport")
      write(coverage.viewport, &text)
      text.key("tiles")
      text.list { text in for tile in tiles { write(tile, &text) } }
    }
    return text.bytes
  }

  private func write(_ viewport: Viewport, _ text: inout JSONText) {
    text.object { text in
      text.key("width")
      text.value(viewport.width)
      text.key("height")
      text.value(viewport.height)
      text.key("scale")
      text.value(viewport.scale)
      text.key("x")
      text.value(viewport.x)
      text.key("y")
      text.value(viewport.y)
      text.key("minScale")
      text.value(limits.minimum)
      text.key("maxScale")
      text.value(limits.maximum)
      text.key("rotation")
      text.value(viewport.turn.degrees)
      text.key("flip")
      text.value(viewport.turn.isFlipped)
      text.key("visible")
      write(coverage.visible ?? .zero, &text)
    }
  }

  private func write(_ tile: CoveredTile, _ text: inout JSONText) {
    text.object { text in
      text.key("level")
      text.value(tile.address.level)
      text.key("column")
      text.value(tile.address.column)
      text.key("row")
      text.value(tile.address.row)
      text.key("url")
      text.value(urls.url(of: tile))
      text.key("source")
      let source = tile.source
      write(
        Rect(
          x: Double(source.x), y: Double(source.y), width: Double(source.width),
          height: Double(source.height)), &text)
      text.key("target")
      write(tile.target, &text)
      text.key("prefetch")
      text.value(tile.isPrefetch)
    }
  }

  private func write(_ rect: Rect, _ text: inout JSONText) {
    text.object { text in
      text.key("x")
      text.value(rect.x)
      text.key("y")
      text.value(rect.y)
      text.key("width")
      text.value(rect.width)
      text.key("height")
      text.value(rect.height)
    }
  }
}
