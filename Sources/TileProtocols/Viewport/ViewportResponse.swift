package import TileGeometry
package import TileStorage
import ZigguratText

/// The JSON list of an image's tiles that cover a viewport.
package struct ViewportResponse {
  package let query: ViewportQuery
  package let coverage: Coverage
  private let limits: ScaleLimits
  /// The JSON of `/api/images/{id}`, if the query asks for it.
  package var description: [UInt8]?
  private let id: String
  private let urls: TileURLs

  /// The maximum number of tiles, more than a viewer could use. A larger query is refused: its answer would delay other
  /// requests.
  package static let tileLimit = 10_000

  /// - Parameter base: the start of every URL, without a slash at its end; empty for root-relative ones.
  package init(
    _ query: ViewportQuery, id: String, archive: TileArchive, base: String = ""
  ) throws(ViewportQuery.ValidationError) {
    self.query = query
    self.id = id
    let (viewport, limits) = query.viewport(on: archive.pyramid.imageSize)
    self.limits = limits
    coverage = Coverage(
      pyramid: query.scheme.grid(of: archive.pyramid), viewport: viewport,
      devicePixelRatio: query.devicePixelRatio,
      coarsest: query.scheme.coarsestLevel(of: archive.pyramid))
    try Self.check(coverage, query)
    urls = TileURLs(query.scheme, id: id, archive: archive, base: base)
  }

  /// Throws an error that names the parameter which asks for too many tiles, and its valid values beside the others.
  private static func check(_ coverage: Coverage, _ query: ViewportQuery) throws(ViewportQuery
    .ValidationError)
  {
    let count = coverage.count()
    guard count <= tileLimit else {
      throw ViewportQuery.ValidationError(
        parameter: "width",
        value: query.width == query.width.rounded() ? "\(Int(query.width))" : "\(query.width)",
        allowed: "with this height and dpr, what at most \(tileLimit) tiles cover, not \(count)")
    }
    guard coverage.count(margin: query.buffer) > tileLimit else { return }
    let most = (0..<query.buffer).last { coverage.count(margin: $0) <= tileLimit } ?? 0
    throw ViewportQuery.ValidationError(
      parameter: query.bufferName, value: "\(query.buffer)",
      allowed: "a whole number from 0 to \(most) here, where \(tileLimit) tiles are the most")
  }

  /// The tiles in order: coarser ones first if the query asks for them, then those of the level, nearest the centre
  /// first.
  package var tiles: [CoveredTile] {
    var coarser = query.fallback ? coverage.fallbackTiles() : []
    // The coarser tiles already include it if any part of the image is visible.
    if query.include.contains(.overview), !query.fallback, let whole = coverage.overviewTile {
      coarser = [whole]
    }
    return coarser + coverage.tiles(margin: query.buffer)
  }

  package var json: [UInt8] { json(of: tiles) }

  package func json(of tiles: [CoveredTile]) -> [UInt8] {
    var text = JSONWriter(capacity: 512 + tiles.count * 256)
    text.object { text in
      text.member("image", id)
      if let description {
        text.member("description", json: description)
      }
      text.member("level", coverage.level)
      text.member("levelScale", coverage.pyramid.scale(ofLevel: coverage.level))
      text.key("viewport")
      write(coverage.viewport, &text)
      text.key("tiles")
      text.list { text in for tile in tiles { write(tile, &text) } }
    }
    return text.bytes
  }

  private func write(_ viewport: Viewport, _ text: inout JSONWriter) {
    text.object { text in
      text.member("width", viewport.width)
      text.member("height", viewport.height)
      text.member("scale", viewport.scale)
      text.member("x", viewport.x)
      text.member("y", viewport.y)
      text.member("minScale", limits.minimum)
      text.member("maxScale", limits.maximum)
      text.member("rotation", viewport.rotation.degrees)
      text.member("flip", viewport.rotation.isFlipped)
      text.key("visible")
      write(coverage.visible ?? .zero, &text)
    }
  }

  private func write(_ tile: CoveredTile, _ text: inout JSONWriter) {
    text.object { text in
      text.member("level", tile.address.level)
      text.member("column", tile.address.column)
      text.member("row", tile.address.row)
      text.key("url")
      urls.write(tile, &text)
      text.key("source")
      write(tile.source, &text)
      text.key("target")
      write(tile.target, &text)
      text.member("prefetch", tile.isPrefetch)
    }
  }

  private func write(_ rect: PixelRect, _ text: inout JSONWriter) {
    text.object { text in
      text.member("x", rect.x)
      text.member("y", rect.y)
      text.member("width", rect.width)
      text.member("height", rect.height)
    }
  }

  private func write(_ rect: Rect, _ text: inout JSONWriter) {
    text.object { text in
      text.member("x", rect.x)
      text.member("y", rect.y)
      text.member("width", rect.width)
      text.member("height", rect.height)
    }
  }
}
